// Questions that Python has drawn: says which row was pressed, and shows what that changes.
// The widget puts parts.js in front of this text.

const GONE = "The kernel behind this question is gone: run its cell again.";

class Questions {
  constructor(desk, model, host) {
    const root = host.attachShadow({ mode: "open" });
    this.host = host;
    this.shown = {}; // part -> its HTML
    this.card = make("section", { class: "frame lk-card", "aria-label": "questions" });
    this.card.innerHTML = model.get("start").html;
    root.append(make("style", {}, model.get("css")), this.card);
    this.card.onclick = ({ target }) => this.press(target.closest("button"), model);
    this.life = new AbortController();
    const ends = followShade(host, this.card, this.life.signal);
    this.life.signal.addEventListener("abort", ends);
    ownKeys(this.card, this.life.signal);
    this.show(desk.parts);
  }

  part(name) {
    return this.card.querySelector(`[data-part="${name}"]`);
  }

  /** Choose a row. It is marked at once; Python may be busy with another cell. */
  async press(row, model) {
    if (!row || this.part(row.name).querySelector("[aria-pressed=true]")) return;
    row.setAttribute("aria-pressed", "true");
    try {
      await tell(model, { name: row.name, value: row.value });
    } catch {
      row.setAttribute("aria-pressed", "false");
      this.part(`${row.name} said`).textContent = GONE;
    }
  }

  show(parts) {
    for (const [name, html] of Object.entries(parts)) {
      if (this.shown[name] === html) continue;
      const part = this.part(name);
      const focus = part.contains(this.host.shadowRoot.activeElement);
      part.innerHTML = this.shown[name] = html;
      if (focus) part.querySelector("[aria-pressed=true]").focus();
    }
  }
}

export default () => {
  const desk = { parts: {}, views: new Set() };
  return {
    initialize({ model }) {
      desk.parts = model.get("start").parts;
      model.on("msg:custom", (message) => {
        desk.parts = message.parts;
        for (const view of desk.views) view.show(desk.parts);
      });
      tell(model, {}).catch(() => {}); // a page that is opened again begins with what is old
    },
    render({ model, el }) {
      const host = make("div", { class: "learnkit-questions" });
      el.append(host);
      const view = new Questions(desk, model, host);
      desk.views.add(view);
      return () => {
        view.life.abort();
        desk.views.delete(view);
      };
    },
  };
};
