// An explorable: the reader changes a cause, and the picture answers.
// explore_host.py puts draw.js and parts.js in front of this text.

class Explorer {
  waiting = false; // whether an answer is under way
  moved = false; // whether the reader has moved on meanwhile

  constructor(model, host) {
    this.model = model;
    this.host = host;
    this.controls = model.get("controls");
    this.places = { ...model.get("start").places };
    this.width = model.get("start").width;
    this.diagram = new Diagram();
    this.build(host.attachShadow({ mode: "open" }));
    this.life = new AbortController();
    ownKeys(this.frame, this.life.signal);
    this.unshade = followShade(host, this.frame, this.life.signal);
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(host);
    this.hear = (message) => this.answer(message);
    model.on("msg:custom", this.hear);
    this.paint(model.get("start"));
    requestAnimationFrame(() => this.fit());
  }

  build(root) {
    this.head = make("p", { class: "head", "aria-live": "polite" });
    this.because = make("p", { class: "note" });
    this.picture = make("div", { class: "picture explored" }, this.diagram.svg);
    this.assumes = make("p", { class: "note" });
    const rows = this.controls.map((control) =>
      control.kind === "drag" ? this.slider(control) : this.choice(control),
    );
    const parts = [this.head, this.because, this.picture, ...rows, this.assumes];
    this.frame = make("section", { class: "frame", "aria-label": "explorable" }, ...parts);
    root.append(make("style", {}, this.model.get("css")), this.frame);
  }

  slider(control) {
    const { name, label, labels, edges } = control;
    const last = labels.length - 1;
    const range = make("input", { type: "range", min: 0, max: last, "aria-label": label });
    this.range = range;
    this.value = make("output", {});
    this.said = () => {
      const place = this.places[name];
      range.value = place;
      this.value.textContent = labels[place];
      range.setAttribute("aria-valuetext", `${labels[place]}. ${this.head.textContent}`);
    };
    const go = (place) => this.move(name, Math.max(0, Math.min(place, last)));
    range.oninput = () => go(Number(range.value));
    const step = (text, says, by) => {
      const button = make("button", { type: "button", "aria-label": says, title: says }, text);
      button.onclick = () => go(this.places[name] + by);
      return button;
    };
    // Below an axis of the picture: the middle of the thumb is 8 pixels from the end of the slider.
    if (edges) range.style.margin = `0 ${edges[1] - 8}px 0 ${edges[0] - 8}px`;
    return make(
      "div",
      { class: edges ? "cause along" : "cause" },
      make("span", {}, label),
      step("−", `${label}: less`, -1),
      range,
      step("+", `${label}: more`, 1),
      this.value,
    );
  }

  choice({ name, label, labels }) {
    const group = make("div", { class: "cause", role: "group", "aria-label": label });
    group.append(make("span", {}, label));
    const buttons = labels.map((text, place) => {
      const button = make("button", { type: "button" }, text);
      button.onclick = () => this.move(name, place);
      group.append(button);
      return button;
    });
    this.pressed = () =>
      buttons.forEach((one, place) => one.setAttribute("aria-pressed", place === this.places[name]));
    return group;
  }

  move(name, place) {
    this.places[name] = place;
    this.say();
    this.ask();
  }

  /** Ask for the picture as it has to be now; one question at a time, so that none piles up. */
  ask() {
    if (this.waiting) return void (this.moved = true);
    this.waiting = true;
    const message = { places: this.places, width: this.width };
    tell(this.model, message).catch(() => {
      this.waiting = false;
      this.head.textContent = "The kernel behind this picture is gone; run its cell again.";
    });
  }

  answer(message) {
    if (!message.frame && !message.failed) return;
    this.waiting = false;
    if (message.failed) this.head.textContent = message.failed;
    else this.paint(message);
    if (!this.moved) return;
    this.moved = false;
    this.ask();
  }

  paint({ frame, finding, because, assumes }) {
    this.diagram.paint(frame);
    this.frame.style.setProperty("--wide", `${this.diagram.svg.width.baseVal.value}px`);
    this.diagram.svg.setAttribute("aria-label", finding);
    this.head.textContent = finding;
    this.because.textContent = because;
    this.assumes.textContent = `Assumes: ${assumes}`;
    const tall = Math.max(this.tall ?? 0, this.diagram.svg.height.baseVal.value);
    this.tall = tall;
    this.picture.style.minHeight = `${tall + 24}px`;
    this.say();
  }

  say() {
    this.said();
    this.pressed?.();
  }

  fit() {
    const width = roomFor(this.picture);
    if (!width || width === this.width) return;
    this.width = width;
    this.tall = 0;
    this.ask();
  }

  close() {
    this.life.abort();
    this.unshade();
    this.sized.disconnect();
    this.model.off("msg:custom", this.hear);
  }
}

export default {
  render({ model, el }) {
    const host = make("div", { class: "learnkit-explorer" });
    el.append(host);
    const explorer = new Explorer(model, host);
    return () => explorer.close();
  },
};
