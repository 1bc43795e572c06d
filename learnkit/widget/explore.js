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
    this.room = model.get("start").width; // what the picture is asked for
    this.diagram = new Diagram();
    this.build(host.attachShadow({ mode: "open" }));
    this.life = new AbortController();
    ownKeys(this.frame, this.life.signal);
    this.unshade = followShade(host, this.frame, this.life.signal);
    this.grab(this.life.signal);
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
    const [cause, ...choices] = this.controls;
    const steps = this.slider(cause);
    const parts = [
      this.head,
      this.because,
      this.picture,
      make("div", { class: "along" }, this.range),
      make("div", { class: "cause" }, steps, ...choices.map((one) => this.choice(one))),
      make("details", {}, make("summary", { class: "note" }, "Assumptions"), this.assumes),
    ];
    this.frame = make("section", { class: "frame", "aria-label": "explorable" }, ...parts);
    root.append(make("style", {}, this.model.get("css")), this.frame);
  }

  slider({ name, label, labels }) {
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
    this.slide = (share) => go(Math.round(share * last));
    range.oninput = () => go(Number(range.value));
    const step = (text, says, by) => {
      const button = make("button", { type: "button", "aria-label": says, title: says }, text);
      button.onclick = () => go(this.places[name] + by);
      return button;
    };
    const buttons = [step("−", `${label}: less`, -1), step("+", `${label}: more`, 1)];
    return make("div", {}, make("span", {}, label), this.value, make("div", {}, ...buttons));
  }

  /** Let the pointer drag what the picture shows of the cause: along the axis, as on the slider. */
  grab(signal) {
    const { svg } = this.diagram;
    const follow = (event) => {
      const { left, top, width } = svg.getBoundingClientRect();
      const scale = this.width / width;
      const [x, y, u, v] = this.axis;
      const along = (scale * (event.clientX - left) - x) * (u - x) + (scale * (event.clientY - top) - y) * (v - y);
      this.slide(along / ((u - x) ** 2 + (v - y) ** 2));
    };
    svg.addEventListener("pointerdown", (event) => {
      if (!this.axis || event.button) return;
      event.preventDefault(); // no text is marked
      this.range.focus({ preventScroll: true });
      svg.setPointerCapture(event.pointerId);
      follow(event);
    }, { signal });
    svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && follow(event), { signal });
  }

  choice({ name, label, labels }) {
    const group = make("div", { role: "group", "aria-label": label });
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
    const message = { places: this.places, width: this.room };
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

  paint({ frame, finding, because, assumes, axis, width }) {
    this.diagram.paint(frame);
    this.width = width;
    this.frame.style.setProperty("--wide", `${width}px`);
    this.axis = axis;
    this.picture.classList.toggle("grab", Boolean(axis));
    const [x, y, u, v] = axis ?? [8, 0, width - 8, 0];
    const ends = y === v ? [x, width - u] : [8, 8]; // an upright axis has no slider below it
    const [left, right] = ends.map((end) => `calc(${(100 * end) / width}% - 8px)`);
    this.range.style.margin = `0 ${right} 0 ${left}`;
    this.diagram.svg.setAttribute("aria-label", finding);
    this.head.textContent = finding;
    this.because.textContent = because;
    this.assumes.textContent = assumes;
    this.say();
  }

  say() {
    this.said();
    this.pressed?.();
  }

  fit() {
    const width = roomFor(this.host, this.frame, this.picture);
    if (!width || width === this.room) return;
    this.room = width;
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
