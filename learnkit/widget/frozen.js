// Players on a page without a kernel: each plays the tape that stands in it, packed.
// frozen.py puts tape.js, draw.js, parts.js, player.js and explore.js in front of this text.

const ROOMY = 640; // from so many pixels on, a page shows the wide picture, and stretches it

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
        hear((message.width < ROOMY && data.narrow) || data.wide);
      } else if ("want" in message) hear(data.wide);
      else throw new Error("there is no kernel behind this page");
    },
  };
}

/** What an explorable knows of Python, without Python: every answer, as it differs from the last. */
function answering({ controls, answers }, sheet) {
  const [cause, choice] = controls;
  const places = Object.fromEntries(controls.map(({ name, start }) => [name, start]));
  const found = (places, width) => {
    const laid = width < ROOMY ? 320 : 720;
    const along = answers[laid][choice ? places[choice.name] : 0];
    const frame = { order: [], html: new Map() };
    const said = {};
    for (const { set, drop, at, order, ...texts } of along.slice(0, places[cause.name] + 1)) {
      apply(frame, { set, drop, at, order });
      Object.assign(said, texts);
    }
    const list = frame.order.map((key) => [key.slice(2), frame.html.get(key)]);
    return { ...said, places, width: laid, frame: list };
  };
  let hear = () => {};
  const traits = { css: sheet, controls, start: found(places, 720) };
  return {
    get: (name) => traits[name],
    on: (_, act) => (hear = act),
    off: () => {},
    send: async ({ places, width }) => hear(found({ ...places }, width)),
  };
}

/** The data of a tape: JSON, packed. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(json).text());
}

const sheet = document.getElementById("lk-sheet").textContent;
for (const place of document.querySelectorAll(".lk-tape")) {
  const data = await unpacked(place.querySelector("script").textContent);
  if (data.explore) {
    place.replaceChildren();
    explorer.render({ model: answering(data, sheet), el: place });
    continue;
  }
  const model = frozen(data, sheet);
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
