// Small things that widgets are made of: elements, icons, room, and whether the page is dark.

/** Make an element: its attributes, and its children. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const ICONS = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M4 3h2.5v10H4zM9.5 3H12v10H9.5z",
  forward: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
};

function icon(button, name, says) {
  button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
  button.setAttribute("aria-label", says);
  button.title = says;
}

/** Whether the page behind an element is dark: by what is really painted, in any host. */
function isDark(element) {
  const rgb = getComputedStyle(element).backgroundColor.match(/[\d.]+/g)?.map(Number);
  if (!rgb || rgb[3] === 0) return matchMedia("(prefers-color-scheme: dark)").matches;
  return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] < 128;
}

/** Mark a host as dark whenever its page is; returns what ends that, with the signal. */
function followShade(host, frame, signal) {
  const soon = () => requestAnimationFrame(() => host.toggleAttribute("data-dark", isDark(frame)));
  const watch = new MutationObserver(soon);
  for (const one of [document.documentElement, document.body]) {
    watch.observe(one, { attributes: true });
  }
  document.addEventListener("load", soon, { signal, capture: true }); // colours come after a name
  soon();
  return () => watch.disconnect();
}

/** Whether a key is always the page's: Escape, and whatever is pressed with Ctrl, Alt or Cmd. */
function isForThePage(event) {
  return event.key === "Escape" || event.ctrlKey || event.metaKey || event.altKey;
}

/** Keep a notebook's shortcuts from taking the keys that are pressed inside an element. */
function ownKeys(element, signal) {
  const ours = (event) =>
    !isForThePage(event) && event.composedPath().includes(element) && event.stopPropagation();
  window.addEventListener("keydown", ours, { capture: true, signal });
}

const WIDEST = 1060; // pixels that a diagram is laid out for at most, and at least
const NARROWEST = 320;
const COLUMN = 720; // of what is wider, half goes to larger type

/** The width to lay a diagram out for, in pixels, so that it fills its frame; 0 where none shows. */
function roomFor(host, frame, picture) {
  const { paddingLeft, paddingRight } = getComputedStyle(picture);
  const border = frame.offsetWidth - frame.clientWidth;
  const room = host.clientWidth - border - parseFloat(paddingLeft) - parseFloat(paddingRight);
  const laid = Math.min(room, (room + COLUMN) / 2, WIDEST);
  return room > 0 ? Math.max(NARROWEST, 10 * Math.floor(laid / 10)) : 0;
}

/** Send to Python; rejects, instead of throwing, when nobody is there any more. */
async function tell(model, message) {
  await model.send(message);
}

/** Send to Python's main thread, in the queue of its cells, by the name in the trait `desk`. */
async function tellMain(model, message) {
  const desk = model.get("desk");
  const kernel = model.widget_manager?.kernel;
  if (!desk || !kernel?.requestExecute) return tell(model, message);
  const given = JSON.stringify(JSON.stringify(message));
  const code = `__import__("learnkit.course.first_edit.desk", fromlist=["press"]).press("${desk}", ${given})`;
  const asked = kernel.requestExecute({ code, store_history: false, stop_on_error: false });
  const reply = await asked.done;
  if (reply.content.status !== "ok") throw new Error(reply.content.evalue); // the kernel is a new one
}
