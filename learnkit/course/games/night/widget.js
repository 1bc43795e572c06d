// The night of 14 July: chips to choose parts with, the bar of tokens, and a track of twelve hours.
// The widget puts parts.js in front of this text. The trait `start` holds what never changes. The
// page sends {play: [parts]}, and gets {passed: outcome} for each hour, then {over: {head, line}}.

/** Milliseconds that an hour lasts, for those who like to watch. */
const PACE = 700;
const number = (value) => Math.round(value).toLocaleString("en");

class Night {
  chosen = new Set();
  came = []; // messages that were not shown yet
  arrived = () => {};
  hurry = () => {};

  constructor(model, host) {
    Object.assign(this, { model, start: model.get("start") });
    const root = host.attachShadow({ mode: "open" });
    this.head = make("p", { class: "head", "aria-live": "polite" }, "The night of 14 July");
    this.line = make("p", { class: "note", role: "status" }, this.start.rules);
    this.chips = new Map(this.start.parts.map((part) => [part.name, this.chip(part)]));
    const chips = make("div", { class: "row", role: "group", "aria-label": "what your harness carries" });
    chips.append(...this.chips.values());
    this.button = this.press("Start the night", () => (this.plays ? this.skip() : this.play()), "primary");
    this.budget = make("div", { class: "budget" }, make("i", { class: "will" }), make("i", { class: "spent" }));
    this.budget.append(make("u", {}, make("small", {}, `budget ${number(this.start.budget)}`)));
    this.tokens = make("p", { class: "note tokens", role: "status" });
    this.hours = this.start.hours.map((hour) => this.hour(hour));
    const honest = make("details", { class: "honest" }, make("summary", {}, "How an hour is decided"), this.start.honest);
    this.frame = make("section", { class: "frame night", "aria-label": "the night of 14 July" });
    const bar = make("div", { class: "bar" }, this.budget, this.tokens);
    const row = make("div", { class: "row" }, this.button);
    this.frame.append(this.head, this.line, chips, bar, row, make("ol", {}, ...this.hours), honest);
    root.append(make("style", {}, model.get("css")), this.frame);
    this.budget.style.setProperty("--at", this.start.budget / this.start.reach);
    this.clear();
    const life = new AbortController();
    ownKeys(this.frame, life.signal);
    const stop = followShade(host, this.frame, life.signal);
    this.hear = (message) => this.plays && (this.came.push(message), this.arrived());
    model.on("msg:custom", this.hear);
    this.close = () => (stop(), life.abort(), model.off("msg:custom", this.hear));
  }

  press(text, act, name = "") {
    const button = make("button", { type: "button", class: name }, text);
    button.onclick = act;
    return button;
  }

  chip({ name, cost }) {
    const chip = this.press(name, () => this.choose(name), "chip");
    chip.append(make("small", {}, ` +${cost}`));
    return chip;
  }

  /** Take a part or leave it, with what it needs, or what needs it. */
  choose(name) {
    const part = (one) => this.start.parts.find((other) => other.name === one);
    const having = !this.chosen.has(name);
    const more = having
      ? part(name).needs.filter((one) => !this.chosen.has(one))
      : [...this.chosen].filter((one) => part(one).needs.includes(name));
    for (const one of [name, ...more]) having ? this.chosen.add(one) : this.chosen.delete(one);
    const why = having ? `${name} needs ${more.join(" and ")}.` : `Without ${name}, ${more.join(" and ")} can't work.`;
    this.clear();
    this.line.textContent = more.length ? why : this.start.rules;
  }

  /** As it is before a night. */
  clear() {
    this.head.textContent = "The night of 14 July";
    this.hours.forEach((one, at) => this.mark(one, "", this.start.hours[at].story, "not played yet"));
    for (const [name, chip] of this.chips) chip.setAttribute("aria-pressed", this.chosen.has(name));
    this.spend(0);
  }

  hour({ hour, title }) {
    const summary = make("summary", {}, make("time", {}, hour), make("i", { "aria-hidden": "true" }));
    summary.append(make("b", {}, title), make("span"));
    return make("li", {}, make("details", {}, summary, make("p")));
  }

  mark(li, glyph, why, more, state = "") {
    // A shorter text leaves its row as tall as it was, so that nothing jumps while the night passes.
    li.firstChild.firstChild.style.minHeight = state ? `${li.firstChild.firstChild.offsetHeight}px` : "";
    li.className = state;
    li.querySelector("i").textContent = glyph;
    li.querySelector("span").textContent = why;
    li.querySelector("p").textContent = more;
  }

  /** Fill the bar: a ghost for what is forecast, and what was really spent. */
  spend(spent) {
    const { parts, requests, conversation, reach, budget } = this.start;
    const each = parts.reduce((sum, { name, cost }) => sum + (this.chosen.has(name) ? cost : 0), 0);
    const [least, most] = requests.map((many) => many * (each + conversation));
    this.budget.style.setProperty("--will", Math.min(1, most / reach));
    this.budget.style.setProperty("--spent", Math.min(1, spent / reach));
    const adds = `+${number(each)} tokens in each request`;
    this.tokens.textContent = spent
      ? `${adds} · ≈${number(spent)} of ${number(budget)} spent`
      : `${adds} · forecast ≈${number(least)} to ${number(most)} of ${number(budget)}, for ` +
        `${requests.join(" to ")} requests: a part that works sends more of them`;
  }

  async play() {
    this.plays = true;
    this.quick = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.clear();
    this.button.textContent = "Skip to the morning";
    for (const chip of this.chips.values()) chip.disabled = true;
    const late = setTimeout(() => (this.line.textContent = "The kernel is busy with another cell."), 2500);
    tell(this.model, { play: [...this.chosen] }).catch(() => {
      this.hear({ over: { head: "✗ The kernel behind this game is gone.", line: "Run its cell again." } });
    });
    let [spent, survived] = [0, 0];
    for (const [at, hour] of [...this.start.hours, {}].entries()) {
      const li = this.hours[at];
      if (li) this.mark(li, "▶\ufe0e", hour.story, "being played", "now");
      while (!this.came.length) await new Promise((done) => (this.arrived = done));
      clearTimeout(late);
      if (li && !this.quick) await new Promise((done) => (this.hurry = done, setTimeout(done, PACE)));
      const { passed, over } = this.came.shift();
      if (over) {
        this.end(over, at);
        break;
      }
      survived += passed.survived;
      spent += passed.tokens;
      this.head.textContent = `${hour.hour} ${passed.survived ? "survived" : "lost"}: ${survived} of ${at + 1} so far`;
      this.line.textContent = `${hour.title}: ${passed.why}`;
      const took = `${hour.story} ${passed.requests}\u00a0requests, ≈${number(passed.tokens)}\u00a0tokens.`;
      const learn = passed.survived ? "" : ` What survives it is in lesson ${passed.lesson}.`;
      this.mark(li, passed.survived ? "✓" : "✗", passed.why, took + learn, passed.survived ? "ok" : "lost");
      this.spend(spent);
    }
  }

  skip() {
    this.quick = true;
    this.hurry();
  }

  end({ head, line }, at) {
    this.plays = false;
    if (this.hours[at]) this.mark(this.hours[at], "✗", head, line, "lost");
    this.head.textContent = head;
    this.line.textContent = line;
    this.button.textContent = "Play another night";
    for (const chip of this.chips.values()) chip.disabled = false;
  }
}

export default {
  render({ model, el }) {
    const host = make("div", { class: "learnkit-night" });
    el.append(host);
    const night = new Night(model, host);
    return () => night.close();
  },
};
