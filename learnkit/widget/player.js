// The player: shows the frames of a tape. host.py puts tape.js, draw.js and parts.js in front of it.
// It knows nothing of what the fragments mean. What a fragment may ask for, by attribute:
//   data-quiet     do not outline it when it changes
//   data-stays     it stays on top while the others are scrolled
//   data-pair      names; hovering or focusing it highlights every element that shares one
//   data-expand    a button that opens and closes the element before it
//   data-intent    JSON that a click sends to Python
// Fragments of the region "@" are no HTML: they are the shapes of a diagram.

const SHORTEST = 10000; // milliseconds from end to end at speed 1, and the longest time
const LONGEST = 30000;
const CADENCE = 700; // milliseconds a step, if that is between them
const SPEEDS = [0.5, 1, 2, 4];

/** What a press there asks Python for, as JSON; undefined for nothing. */
const intentAt = (event) => event.target.closest("[data-intent]")?.dataset.intent;

/** Whether a shape can be outlined: its dash says something, and a thin bar would look like another. */
const bold = (shape) => {
  const edge = shape.querySelector("rect, circle");
  if (edge && getComputedStyle(edge).strokeDasharray !== "none") return false;
  return !shape.matches(".bar") || Math.min(edge.width.baseVal.value, edge.height.baseVal.value) >= 6;
};

class Stage {
  k = -1; // the step that is shown
  shown = null; // its frame
  follow = true;
  playing = false;
  raw = false; // whether the slider stops at every event, also at those that change nothing here
  width = 720;
  tallest = 0; // pixels of the tallest document shown so far
  open = new Set(); // long texts that were opened: key and place in it
  cells = new Map(); // key -> element
  regions = new Map(); // name -> element

  constructor(tape, model, host) {
    this.tape = tape;
    this.resets = tape.resets;
    this.model = model;
    this.host = host;
    this.root = host.attachShadow({ mode: "open" });
    this.build();
    this.listen();
    this.show(tape.last);
  }

  build() {
    const button = (name, says, act) => {
      const made = make("button", { type: "button" });
      icon(made, name, says);
      made.onclick = act;
      return made;
    };
    const label = { "aria-label": this.model.get("label") };
    this.head = make("p", { class: "head", "aria-live": "polite" });
    this.because = make("p", { class: "note" });
    this.picture = make("div", { class: "picture", tabindex: "0", role: "group", ...label });
    this.diagram = new Diagram();
    this.playButton = button("play", "play (Space)", () => this.play(!this.playing));
    this.range = make("input", { type: "range", min: "0", max: "0", "aria-label": "step" });
    this.range.oninput = () => this.go(Number(this.range.value));
    this.count = make("span", { class: "count" });
    this.rate = make("select", { "aria-label": "speed", title: "speed" });
    for (const speed of SPEEDS) this.rate.append(new Option(`${speed}×`, speed));
    this.rate.value = "1";
    const follow = { type: "button", class: "follow", title: "stay at the newest step" };
    this.followButton = make("button", follow, "follow");
    this.followButton.onclick = () => this.setFollow(!this.follow);
    const every = { type: "button", class: "raw", title: "stop at every event of the log" };
    this.rawButton = make("button", { ...every, "aria-pressed": "false" }, "raw log");
    this.rawButton.onclick = () => this.setRaw(!this.raw);
    this.note = make("p", { class: "note", role: "status" });
    const controls = make(
      "div",
      { class: "controls", role: "toolbar", "aria-label": "playback" },
      button("first", "first step (Home)", () => this.go(0)),
      button("back", "one step back (←)", () => this.go(this.stop - 1)),
      this.playButton,
      button("forward", "one step forward (→)", () => this.go(this.stop + 1)),
      button("last", "last step (End)", () => this.go(Infinity)),
      this.range,
      this.count,
      this.rate,
      this.rawButton,
      this.followButton,
    );
    const parts = [this.head, this.because, this.picture, controls, this.note];
    this.frame = make("section", { class: "frame", ...label }, ...parts);
    this.root.append(make("style", {}, this.model.get("css")), this.frame);
  }

  listen() {
    const life = (this.life = new AbortController());
    const on = (target, type, act, capture = false) =>
      target.addEventListener(type, act, { signal: life.signal, capture });
    // On the window and first, so that the notebook's own shortcuts do not take our keys.
    on(window, "keydown", (event) => this.key(event), true);
    on(this.picture, "click", (event) => this.click(event));
    on(this.picture, "pointerdown", (event) => (this.pressed = intentAt(event)));
    on(this.picture, "pointerup", (event) => this.release(event));
    for (const [enter, leave] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
      on(this.picture, enter, (event) => this.pair(event.target));
      on(this.picture, leave, () => this.pair(null));
    }
    this.unshade = followShade(this.host, this.frame, life.signal);
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(this.host);
    this.tape.listeners.add((this.grow = () => this.grown()));
  }

  close() {
    this.life.abort();
    this.unshade();
    this.sized.disconnect();
    this.tape.listeners.delete(this.grow);
    clearTimeout(this.timer);
    cancelAnimationFrame(this.ticking);
  }

  /** New steps are here: follow them, a few a frame, or only say that there are more. */
  grown() {
    // Patches of the picture before may still arrive after another width was asked for.
    if (this.resets !== this.tape.resets && this.tape.last >= this.k) {
      this.resets = this.tape.resets;
      this.shown = null;
      this.show(this.k);
    }
    if (!this.follow || this.playing) return this.say();
    this.ticking ??= requestAnimationFrame(() => {
      this.ticking = undefined;
      const behind = this.tape.last - this.k;
      if (!this.follow || behind <= 0) return;
      // After a leap the whole picture is new: then only the last step's changes say something.
      if (behind > 200) this.show(this.tape.last);
      else this.show(this.k + Math.ceil(behind / 6), this.k + 1);
      if (this.k < this.tape.last) this.grown();
    });
  }

  /** Where the slider stops: at each change of the picture, or at each event. */
  get stops() {
    return this.raw ? [...this.tape.steps.keys()] : this.tape.stops;
  }

  /** Number of the stop that is shown: the last one that isn't after step k. */
  get stop() {
    const after = this.stops.findIndex((step) => step > this.k);
    return (after < 0 ? this.stops.length : after) - 1;
  }

  /** Go to a stop because the reader asked for it. */
  go(stop) {
    this.play(false);
    const last = this.stops.length - 1;
    const to = Math.max(0, Math.min(stop, last));
    if (to < last) this.setFollow(false);
    this.show(to < last ? this.stops[to] : this.tape.last);
  }

  setRaw(raw) {
    this.raw = raw;
    this.rawButton.setAttribute("aria-pressed", raw);
    this.say();
  }

  /** Ask for the diagram as the room for it needs it. */
  fit() {
    if (this.host.clientWidth !== this.room) {
      this.tallest = 0; // another width, other heights
      this.picture.style.minHeight = "";
      this.room = this.host.clientWidth;
    }
    const width = roomFor(this.host, this.frame, this.picture);
    if (!width || width === this.width || !this.diagram.svg.isConnected) return;
    this.width = width;
    tell(this.model, { width }).catch(() => {});
  }

  setFollow(follow) {
    this.follow = follow;
    if (follow) this.play(false), this.show(this.tape.last);
    else this.say();
  }

  play(playing) {
    clearTimeout(this.timer);
    if (playing === this.playing && !playing) return;
    this.playing = playing;
    icon(this.playButton, playing ? "pause" : "play", playing ? "pause (Space)" : "play (Space)");
    if (!playing) return;
    this.setFollow(false);
    if (this.stop >= this.stops.length - 1) this.show(0);
    const each = () => {
      const number = Math.max(this.stops.length - 1, 1);
      return Math.max(SHORTEST / number, Math.min(CADENCE, LONGEST / number), 2000 / 60);
    };
    const wait = () => (this.timer = setTimeout(tick, Math.min(each(), 2000) / this.rate.value));
    const tick = () => {
      const next = this.stop + 1;
      if (next >= this.stops.length) return this.play(false);
      this.show(next < this.stops.length - 1 ? this.stops[next] : this.tape.last);
      wait();
    };
    wait();
  }

  /** Show step k; what changed since step `first` (the same, unless some were skipped) is marked. */
  show(k, first = k) {
    const steps = this.tape.steps;
    if (!steps.length) return this.say();
    this.shown = this.tape.frame(k, false, this.shown);
    this.k = k;
    this.paint();
    const sets = steps.slice(first, k + 1).flatMap((step) => step.set ?? []);
    const changed = new Set(sets.map(([key]) => key));
    // Of a document only the last thing that is new is marked, and at the end its end is in view.
    const cells = [...this.cells];
    const anew = cells.findLast(([key]) => changed.has(key))?.[0];
    let target = k === this.tape.last ? cells.at(-1)?.[1] : null;
    this.picture.style.setProperty("--tall", `${this.tape.tall}px`);
    for (const [key, cell] of this.cells) {
      const marked = k > 0 && key === anew && !cell.firstElementChild?.matches("[data-quiet]");
      cell.toggleAttribute("data-changed", marked);
      if (marked) target = cell;
    }
    // A document stays as tall as it was, so that what is below it doesn't jump.
    this.tallest = Math.max(this.tallest, this.diagram.shapes.size ? 0 : this.picture.offsetHeight);
    this.picture.style.minHeight = this.tallest ? `${this.tallest}px` : "";
    if (target) this.reveal(target);
    const telling = [...this.diagram.shapes].filter(([, shape]) => shape.hasAttribute("aria-label"));
    const some = telling.some(([key]) => !changed.has(`@/${key}`)); // with all outlined, none is
    for (const [key, shape] of telling) {
      shape.toggleAttribute("data-changed", some && changed.has(`@/${key}`) && bold(shape));
    }
    const head = (k === this.tape.last && this.tape.finding) || steps[k].head;
    if (this.head.textContent !== head) this.head.textContent = head;
    // The line keeps its place, so that the picture does too.
    this.because.textContent = this.tape.because;
    this.because.style.visibility = k === this.tape.last ? "" : "hidden";
    this.say();
  }

  /** Bring the page to the shown frame, touching only what differs. */
  paint() {
    const { order, html } = this.shown;
    const held = this.root.activeElement;
    for (const [key, cell] of this.cells) {
      if (!html.has(key)) cell.remove(), this.cells.delete(key);
    }
    const next = new Map();
    const shapes = order.filter((key) => key.startsWith("@/"));
    this.diagram.paint(shapes.map((key) => [key.slice(2), html.get(key)]));
    this.diagram.svg.setAttribute("aria-label", this.model.get("label"));
    if (shapes.length) this.frame.style.setProperty("--wide", `${this.diagram.svg.width.baseVal.value}px`);
    if (!shapes.length) this.diagram.svg.remove();
    else if (!this.diagram.svg.isConnected) {
      this.picture.prepend(this.diagram.svg);
      requestAnimationFrame(() => this.fit());
    }
    for (const key of order) {
      if (key.startsWith("@/")) continue;
      const region = this.region(key);
      let cell = this.cells.get(key);
      if (!cell) this.cells.set(key, (cell = make("div", { "data-key": key })));
      if (cell.source !== html.get(key)) {
        cell.innerHTML = cell.source = html.get(key);
        cell.querySelectorAll("[data-expand]").forEach((button, place) => {
          if (this.open.has(`${key} ${place}`)) this.expand(button);
        });
      }
      const here = next.has(region) ? next.get(region) : region.firstElementChild;
      if (here !== cell) region.insertBefore(cell, here);
      next.set(region, cell.nextElementSibling);
    }
    let spot = this.picture.firstElementChild;
    if (spot === this.diagram.svg) spot = spot.nextElementSibling;
    for (const region of next.keys()) {
      if (region !== spot) this.picture.insertBefore(region, spot);
      spot = region.nextElementSibling;
    }
    for (const [name, region] of this.regions) {
      if (!next.has(region)) region.remove(), this.regions.delete(name);
    }
    // What had the focus may be gone: the keys should go on working.
    if (held && !held.isConnected) this.picture.focus({ preventScroll: true });
  }

  region(key) {
    const name = key.includes("/") ? key.slice(0, key.lastIndexOf("/")) : "";
    let region = this.regions.get(name);
    if (!region) {
      region = make("div", { class: "region", "data-region": name });
      this.regions.set(name, region);
    }
    return region;
  }

  /** Scroll the picture, never the page, until an element can be seen. */
  reveal(element) {
    const box = this.picture.getBoundingClientRect();
    const its = element.getBoundingClientRect();
    const top = box.top + (this.picture.querySelector("[data-stays]")?.offsetHeight ?? 0);
    if (its.bottom > box.bottom) {
      this.picture.scrollTop += Math.min(its.bottom - box.bottom + 12, its.top - top - 12);
    } else if (its.top < top) this.picture.scrollTop -= top - its.top + 12;
  }

  say() {
    const last = Math.max(this.stops.length - 1, 0);
    const stop = Math.max(this.stop, 0);
    const time = this.tape.steps[this.k]?.time ?? 0;
    const whole = this.tape.steps.at(-1)?.time ?? 0; // in the unit of a time axis, see time_axis.py
    const [each, unit] = whole < 120 ? [1, "s"] : whole < 7200 ? [60, "min"] : [3600, "h"];
    this.range.max = last;
    this.range.value = stop;
    const clock = whole && last > 1 ? ` · ${(time / each).toFixed(1)} ${unit}` : "";
    this.count.textContent = `${this.raw ? "event" : "step"} ${stop} of ${last}${clock}`;
    this.rate.hidden = last < 2; // there is nothing to play
    this.range.setAttribute("aria-valuetext", this.count.textContent);
    this.followButton.setAttribute("aria-pressed", this.follow);
  }

  key(event) {
    const path = event.composedPath();
    if (!path.includes(this.frame) || isForThePage(event)) return;
    const on = path[0];
    const steps = { ArrowLeft: this.stop - 1, ArrowRight: this.stop + 1, Home: 0, End: Infinity };
    const writes = on.matches("textarea,select,input:not([type=range])");
    const aside = event.shiftKey && { ArrowLeft: -80, ArrowRight: 80 }[event.key];
    if (aside && !writes) {
      event.stopPropagation();
      event.preventDefault();
      return on.scrollBy({ left: aside });
    }
    if ((event.key === "Enter" || event.key === " ") && on.matches(".diagram [data-intent]")) {
      event.stopPropagation();
      event.preventDefault();
      return this.intend(JSON.parse(on.dataset.intent));
    }
    if (!writes && event.key !== " " && !(event.key in steps)) return;
    event.stopPropagation();
    if (writes) return;
    if (event.key === " " && on.matches("button,summary,a")) return; // it presses the button
    event.preventDefault();
    if (event.key === " ") this.play(!this.playing);
    else this.go(steps[event.key]);
  }

  click(event) {
    const button = event.target.closest("[data-expand]");
    if (button) return this.expand(button);
    if (event.detail === 0 && intentAt(event)) this.intend(JSON.parse(intentAt(event)));
  }

  /** The pointer is up. No click comes where the picture was drawn anew since it went down. */
  release(event) {
    const asks = intentAt(event);
    if (asks && asks === this.pressed && event.button === 0) this.intend(JSON.parse(asks));
    this.pressed = null;
  }

  /** Tell Python what the reader wants. It happens now, so now is what is shown. */
  intend(intent) {
    this.setFollow(true);
    this.note.textContent = "";
    tell(this.model, { intent }).catch(() => {
      this.note.textContent = "The kernel behind this view is gone. It still plays.";
    });
  }

  expand(button) {
    const open = button.previousElementSibling.classList.toggle("open");
    button.dataset.closed ??= button.textContent;
    button.textContent = open ? "show less" : button.dataset.closed;
    button.setAttribute("aria-expanded", open);
    const cell = button.closest("[data-key]");
    const place = [...cell.querySelectorAll("[data-expand]")].indexOf(button);
    this.open[open ? "add" : "delete"](`${cell.dataset.key} ${place}`);
  }

  pair(target) {
    const names = (target?.closest("[data-pair]")?.dataset.pair ?? "").split(" ").filter(Boolean);
    for (const one of this.picture.querySelectorAll("[data-pair]")) {
      const its = one.dataset.pair.split(" ");
      one.toggleAttribute("data-paired", names.some((name) => its.includes(name)));
    }
  }
}

export default () => {
  const tape = new Tape();
  return {
    initialize({ model }) {
      let asked = 0;
      const ask = () => tell(model, { want: tape.steps.length }).catch(() => {});
      model.on("msg:custom", (message) => {
        if (tape.take(message) || Date.now() - asked < 1000) return;
        asked = Date.now();
        ask();
      });
      ask(); // a page that is opened again starts with nothing
    },
    render({ model, el }) {
      const host = make("div", { class: "learnkit-player" });
      el.append(host);
      const stage = new Stage(tape, model, host);
      return () => stage.close();
    },
  };
};
