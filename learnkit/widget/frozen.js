// Players on a page without a kernel: each plays the tape that stands in it as JSON.
// frozen.py puts tape.js, parts.js and player.js in front of this text.

/** What the player knows of Python, without Python. */
function frozen(data, sheet) {
  const traits = { label: data.label, css: sheet + data.css };
  let hear = () => {};
  return {
    get: (name) => traits[name],
    on: (_, act) => (hear = act),
    send: async (message) => {
      if ("width" in message) {
        hear({ reset: true });
        hear((message.width < 560 && data.narrow) || data.wide);
      } else if ("want" in message) hear(data.wide);
      else throw new Error("there is no kernel behind this page");
    },
  };
}

const sheet = document.getElementById("lk-sheet").textContent;
for (const place of document.querySelectorAll(".lk-tape")) {
  const model = frozen(JSON.parse(place.querySelector("script").textContent), sheet);
  const { initialize, render } = player();
  initialize({ model });
  place.replaceChildren(); // the static form stood here, for pages without scripts
  render({ model, el: place });
}

// A player looks again whether the page is dark when an attribute of the page changes.
const dark = matchMedia("(prefers-color-scheme: dark)");
const say = () => (document.documentElement.dataset.scheme = dark.matches ? "dark" : "light");
dark.addEventListener("change", say);
say();
