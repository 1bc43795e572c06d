// The panel in place of an error: what has changed in a request, and ways on.
// The widget puts parts.js in front of this text.
// Running something is Python's business. A cell's text is changed here, where the notebook is, and
// only if it is still the text that ran; what was there before can be put back.

const BUSY = "The kernel is busy with another cell; it begins when that is done.";

function add(parent, tag, attributes, ...children) {
  const element = make(tag, attributes, ...children);
  parent.append(element);
  return element;
}

function button(text, act, attributes = {}, small = "") {
  const element = make("button", { type: "button", ...attributes }, text);
  if (small) add(element, "small", {}, small);
  element.onclick = act;
  return element;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const TAGS = { same: "span", gone: "del", new: "ins" };
const pieces = (all) => all.map(([kind, text]) => make(TAGS[kind], {}, text));

class EditPanel {
  open = ""; // undo or script: what is unfolded without Python
  state = null;
  seq = 0;

  constructor(model, host) {
    this.model = model;
    const root = host.attachShadow({ mode: "open" });
    this.head = make("p", { class: "head", role: "status" });
    this.changes = make("div", { class: "changes" });
    this.ways = make("div", { class: "ways", role: "group", "aria-label": "what you can do" });
    this.more = make("div", { class: "more" });
    this.note = make("p", { class: "status", role: "status" });
    this.frame = make("section", { class: "frame", "aria-label": "a request that is not in the recording" });
    const ask = make("p", { class: "ask" }, "The run has stopped here. What do you want to do?");
    this.frame.append(this.head, this.changes, ask, this.ways, this.more, this.note);
    root.append(make("style", {}, model.get("css")), this.frame);
    const life = (this.life = new AbortController());
    const leave = followShade(host, this.frame, life.signal);
    life.signal.addEventListener("abort", leave);
    ownKeys(host, life.signal);
    this.heard = (message) => this.hear(message);
    model.on("msg:custom", this.heard);
    this.buttons = {
      undo: button("Undo my change", () => this.undo(), {}),
      model: button("Be the model here", () => this.ask({ model: true }), { class: "big" }, "you answer this request yourself"),
    };
    const { server } = model.get("start").state;
    if (server) this.buttons.server = button("Ask the model", () => this.ask({ server: true }), {}, server);
    this.ways.append(...Object.values(this.buttons));
    this.hear(model.get("start"));
    tell(model, { want: true }).catch(() => {}); // a page that is opened again begins with what is old
  }

  close() {
    this.life.abort();
    this.model.off("msg:custom", this.heard);
  }

  hear(message) {
    if (!message?.state || message.seq < this.seq) return;
    const first = !this.state;
    this.seq = message.seq;
    this.state = message.state;
    if (first) this.draw();
    if (this.state.phase) {
      this.said("");
      this.open = "";
    }
    this.unfolded();
  }

  /** What never changes: the difference, and which buttons there are. */
  draw() {
    const { title, changes, undo } = this.state;
    this.head.textContent = title;
    for (const { where, pieces: parts } of changes) {
      const change = add(this.changes, "div", {});
      add(change, "p", { class: "where" }, `${capital(where)}:`);
      add(change, "p", { class: "words" }, ...pieces(parts));
    }
    if (!undo.length) {
      this.buttons.undo.setAttribute("aria-disabled", "true");
      add(this.buttons.undo, "small", {}, "no cell differs from the lesson");
    }
  }

  said(text) {
    clearTimeout(this.timer);
    this.note.textContent = text;
  }

  /** Ask Python to run something. */
  async ask(intent) {
    if (this.asking) return;
    this.asking = true;
    this.open = "";
    this.said("Running the cell again …");
    this.timer = setTimeout(() => this.state.phase !== "runs" && this.said(BUSY), 1500);
    for (const one of Object.values(this.buttons)) one.setAttribute("aria-busy", "true");
    try {
      await tellMain(this.model, intent);
      this.said("");
    } catch {
      this.said("The kernel has restarted since, and knows nothing of this panel: run the cell again.");
    }
    this.asking = false;
    for (const one of Object.values(this.buttons)) one.removeAttribute("aria-busy");
  }

  unfold(what) {
    this.open = this.open === what ? "" : what;
    this.said("");
    this.unfolded();
    if (this.open) this.more.querySelector("button")?.focus();
  }

  unfolded() {
    const { phase } = this.state;
    this.buttons.undo.setAttribute("aria-expanded", String(this.open === "undo"));
    const shown = this.open ? this.cells() : ["runs", "ran"].includes(phase) ? this.ran() : [];
    this.more.replaceChildren(...shown);
  }

  /** What came of a real model's replies. */
  ran() {
    const { note, phase } = this.state;
    const outcome = phase === "runs" ? "The model answers …" : note;
    return [make("p", { class: "outcome", role: "status" }, outcome)];
  }

  // Undo

  notebook() {
    return this.model.widget_manager?.context?.model?.sharedModel ?? null;
  }

  find(id) {
    return this.notebook()?.cells[this.place(id)] ?? null;
  }

  /** Where a cell stands in the notebook; -1 if it is gone. */
  place(id) {
    return this.notebook()?.cells.findIndex((cell) => (cell.getId?.() ?? cell.id) === id) ?? -1;
  }

  /** Change a cell's text, if it still is what we think. */
  swap(id, from, to) {
    const cell = this.find(id);
    if (!cell || cell.getSource().trim() !== from.trim()) return false;
    cell.setSource(to);
    return true;
  }

  undo() {
    const { undo } = this.state;
    if (!undo.length) return this.said("No cell that has run differs from the lesson, so there is nothing to undo.");
    if (undo.length === 1) this.swap(undo[0].id, undo[0].now, undo[0].was);
    this.open = "";
    this.unfold("undo");
  }

  cells() {
    return this.state.undo.flatMap((one) => {
      const text = this.find(one.id)?.getSource().trim();
      const here = one.id === this.state.cell;
      const above = this.place(one.id) < this.place(this.state.cell);
      const name = here ? "this cell" : above ? "a cell above" : "a cell below";
      const row = make("div", { class: "row" });
      const put = (label, from, to) =>
        row.append(button(label, () => (this.swap(one.id, from, to), this.unfolded(), this.more.querySelector("button")?.focus())));
      let says = `The original of ${name}:`;
      if (text === one.was.trim()) {
        says = `${capital(name)} is as it was in the lesson. Run ${here ? "it" : "it, and then this one,"} again.`;
        put("Put my version back", one.was, one.now);
      } else if (text === one.now.trim()) {
        put(`Put the original of ${name} back`, one.now, one.was);
      } else if (text !== undefined) says = `You have edited ${name} since it ran, so it stays as it is. Its original:`;
      row.append(button("Copy the original", () => this.copy(one.was)));
      const lines = make("div", { class: "lines", tabindex: "0" }, ...one.lines.map(([kind, line]) =>
        make(kind === "gone" ? "ins" : kind === "new" ? "del" : "span", {}, line || " ")));
      return [make("p", {}, says), lines, row];
    });
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.said("Copied.");
    } catch {
      this.said("The browser does not allow copying here: select the lines, and copy them.");
    }
  }
}

export default {
  render({ model, el }) {
    const host = make("div", { class: "learnkit-edit" });
    el.append(host);
    const panel = new EditPanel(model, host);
    return () => panel.close();
  },
};
