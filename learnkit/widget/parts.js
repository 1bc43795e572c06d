// Small things the player is made of: elements, icons, and whether the page is dark.

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
