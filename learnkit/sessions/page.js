// A session's page: turns are drawn as one scrolls to them, and what has a number leads to it.
// Each part of the turns stands in the page as packed HTML, made by page.py, which escaped it.
const sheet = document.getElementById("sheet").textContent;
const dark = matchMedia("(prefers-color-scheme: dark)");
const NEAR = 1200; // pixels from the window at which a part is drawn
const parts = [...document.querySelectorAll(".later")];

/** Draw a part, once; what is returned ends when its turns are there. */
const open = (part) => (part.drawn ??= draw(part));

async function draw(part) {
  const root = part.attachShadow({ mode: "open" });
  part.toggleAttribute("data-dark", dark.matches);
  const packed = part.querySelector("script").textContent;
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  root.innerHTML = `<style>${sheet}</style>${await new Response(text).text()}`;
  part.style.minHeight = "";
  root.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-expand]");
    if (!button) return;
    const shown = button.previousElementSibling.classList.toggle("open");
    button.dataset.closed ??= button.textContent;
    button.textContent = shown ? "show less" : button.dataset.closed;
    button.setAttribute("aria-expanded", shown);
  });
}

let here; // the turn that was gone to

/** Go to a turn: draw its part and those above that would move it once they are seen. */
async function go() {
  const name = decodeURIComponent(location.hash.slice(1));
  const last = parts.findIndex((one) => one.dataset.turns.split(" ").includes(name));
  if (last < 0) return;
  await open(parts[last]);
  here?.classList.remove("here");
  here = parts[last].shadowRoot.getElementById(name);
  here.classList.add("here");
  here.focus({ preventScroll: true });
  for (let above = last; above >= 0; above--) {
    await open(parts[above]);
    here.scrollIntoView();
    if (parts[above].getBoundingClientRect().top < -NEAR) break;
  }
}

const seen = new IntersectionObserver(
  (all) => all.forEach((one) => one.isIntersecting && open(one.target)),
  { rootMargin: `${NEAR}px` },
);
parts.forEach((part) => seen.observe(part));
dark.addEventListener("change", () =>
  parts.forEach((part) => part.toggleAttribute("data-dark", dark.matches)),
);
// Under a finding's card, the columns of all its turns are marked.
for (const card of document.querySelectorAll(".found li"))
  for (const kind of ["pointerenter", "pointerleave"])
    card.addEventListener(kind, () => {
      for (const { hash } of card.querySelectorAll("a[href^='#']"))
        for (const column of document.querySelectorAll(
          `.bar[data-pair="${CSS.escape(decodeURIComponent(hash.slice(1)))}"]`,
        ))
          column.classList.toggle("lit", kind === "pointerenter");
    });
const follow = ({ target }) => {
  const there = target.closest?.("[data-pair], a[href^='#']");
  if (!there) return;
  const hash = there.hash ?? `#${encodeURIComponent(there.dataset.pair)}`;
  if (location.hash === hash) go(); // the same place again
  else location.hash = hash;
};
document.addEventListener("click", follow);
document.addEventListener("keydown", (event) => event.key === "Enter" && follow(event));
addEventListener("hashchange", go);
go();
