// Shapes of a display list as SVG: the same markup as display.py makes of them.

const INSET = 8; // where the lines of text in a box stand, in pixels
const FIRST = 17;
const LEADING = 16;
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

const escaped = (text) => text.replace(/[&<>"']/g, (char) => ENTITIES[char]);

/** A shape as SVG, from the list that Shape.wire writes. */
export function markup(wire) {
  const [kind, x = 0, y = 0, , , mark = "", style = "", , , says = "", pair = "", intent = ""] = wire;
  const names = [kind, ...style, mark && `k-${mark}`].filter(Boolean).join(" ");
  let start = `<g class="${names}"`;
  if (x || y) start += ` transform="translate(${x} ${y})"`;
  if (pair) start += ` data-pair="${escaped(pair)}"`;
  if (intent) start += ` data-intent="${escaped(intent)}"`;
  if (!says) return `${start}>${inside(wire)}</g>`;
  const said = escaped(says);
  start += ` tabindex="0" role="${intent ? "button" : "img"}" aria-label="${said}"`;
  return `${start}><title>${said}</title>${inside(wire)}</g>`;
}

function inside([kind, , , width = 0, height = 0, , , lines = [], path = ""]) {
  if (kind === "edge") return `<path d="${escaped(path)}"/>`;
  if (kind === "text") return `<text>${escaped(lines[0] ?? "")}</text>`;
  if (kind === "dot") {
    const text = lines.length ? `<text y="4">${escaped(lines[0])}</text>` : "";
    return `<circle r="${width}"/>${text}`;
  }
  const corner = kind === "box" ? ' rx="3"' : "";
  const text = lines.map(
    (line, n) => `<text x="${INSET}" y="${FIRST + n * LEADING}">${escaped(line)}</text>`,
  );
  return `<rect width="${width}" height="${height}"${corner}/>${text.join("")}`;
}

/** A living diagram: a shape that keeps its key moves to its new place. */
export class Diagram {
  shapes = new Map(); // key -> element

  constructor() {
    this.svg = elements('<svg class="diagram" role="group" xmlns="http://www.w3.org/2000/svg"/>');
  }

  /** Bring the diagram to a list of [key, JSON of the shape]; return what changed. */
  paint(list) {
    const left = new Map(this.shapes);
    const changed = [];
    const first = !this.shapes.size; // nothing appears among others
    let spot = this.svg.firstElementChild;
    for (const [key, source] of list) {
      if (key === "size") {
        this.resize(JSON.parse(source));
        continue;
      }
      let shape = this.shapes.get(key);
      left.delete(key);
      if (shape?.source !== source) {
        const fresh = elements(`<svg>${markup(JSON.parse(source))}</svg>`).firstElementChild;
        if (!shape || !morph(shape, fresh)) {
          if (shape === spot) spot = spot?.nextElementSibling ?? null;
          shape?.remove();
          shape = fresh;
          if (!first) shape.classList.add("new");
          this.shapes.set(key, shape);
        }
        shape.source = source;
        changed.push(shape);
      }
      if (shape !== spot) this.svg.insertBefore(shape, spot);
      spot = shape.nextElementSibling;
    }
    for (const [key, shape] of left) {
      shape.remove();
      this.shapes.delete(key);
    }
    return changed;
  }

  resize([, width, height]) {
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
      this.svg.setAttribute(name, value);
    }
  }
}

/** Parse one element. */
function elements(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content.firstElementChild;
}

/** Make an element like another of the same structure, so that what differs moves there. */
function morph(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.childElementCount !== fresh.childElementCount) return false;
  if ([...old.children].some((child, n) => child.nodeName !== fresh.children[n].nodeName)) return false;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (!old.childElementCount && old.textContent !== fresh.textContent) old.textContent = fresh.textContent;
  return [...old.children].every((child, n) => morph(child, fresh.children[n]));
}
