// Predictions and quizzes that are answered on the page. Without this, their answers are folded.

/** Make buttons of the options; a press tells which one. */
function choose(options, chosen) {
  options.className = "lk-options";
  for (const item of options.children) {
    const button = document.createElement("button");
    button.append(...item.childNodes);
    item.append(button);
    button.onclick = () => {
      for (const one of options.querySelectorAll("button")) {
        one.setAttribute("aria-pressed", String(one === button));
      }
      chosen(button.querySelector("strong").textContent);
    };
  }
}

/** Open the reasons, and say whether the answer is right. */
function explain(fold, said, letter) {
  let right;
  for (const item of fold.querySelectorAll("li")) {
    const own = item.querySelector("strong").textContent;
    item.classList.toggle("lk-chosen", own === letter);
    if (item.childNodes[1].textContent.includes("✓")) right = own;
  }
  said.textContent =
    letter === right ? `✓ You said ${letter}, and so it is.` : `✗ You said ${letter}; it is ${right}.`;
  fold.open = true;
}

const folds = [...document.querySelectorAll(".output_html details:has(> summary + ul)")];
for (const fold of folds.filter((one) => one.previousElementSibling?.matches("ul"))) {
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  fold.before(said);
  choose(said.previousElementSibling, (letter) => explain(fold, said, letter));
}

const reveals = folds.filter((one) => !one.previousElementSibling.matches("[role=status]"));
const predictions = [...document.querySelectorAll(".output_html > ul")]
  .filter((one) => one.nextElementSibling?.textContent.startsWith("choose one of"));
predictions.forEach((options, number) => {
  const fold = reveals[number];
  const head = fold.previousElementSibling;
  const note = options.nextElementSibling;
  head.id = `reveal-${number + 1}`;
  const link = document.createElement("a");
  link.href = `#${head.id}`;
  link.textContent = "See what happens";
  choose(options, (letter) => {
    explain(fold, head, letter);
    note.replaceChildren(`● noted: ${letter}. `, link);
  });
});

// Code that is wider than the page fades out at its edge, and scrolls by keyboard, too.
for (const code of document.querySelectorAll(".highlight pre")) {
  if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
}

const contents = document.querySelector(".lk-contents details");
if (contents) contents.open = matchMedia("(min-width:1260px)").matches;
