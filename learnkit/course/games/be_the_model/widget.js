// A session as the model: shows what the model sees, as Python drew it, and builds the reply from forms.
// The widget puts parts.js in front of this text.
// What is written but not sent yet lives here, so that typing never waits for the kernel; Python
// checks it once more when it is sent. Drafts are kept per widget, not per view of it.

/** The mark of each phase in which there is nothing to fill in. */
const NEWS = {
  works: ["working", "▶\ufe0e"],
  ended: ["shutdown", "■"],
  left: ["shutdown", "■"],
  broken: ["failed", "✗"],
};
/** The mark of a remark: something went right, or wrong, or neither. */
const REMARKS = { true: ["done", "✓"], false: ["failed", "✗"], null: ["shutdown", "·"] };

/** As make, but a function becomes a handler. */
function build(tag, attributes = {}, ...children) {
  const element = make(tag, {}, ...children);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[name] = value;
    else element.setAttribute(name, value);
  }
  return element;
}

function button(text, onclick, more = {}) {
  return build("button", { type: "button", onclick, ...more }, text);
}

/** A reply that is being written: parts that are done, and the one that is open. */
const blank = () => ({ parts: [], open: null, raw: null, forget: false, broken: false });

class Desk {
  state = null;
  seq = 0;
  draft = blank();
  problem = null;
  first = null; // the form with which the game was started
  sent = null; // what was sent and not heard of yet: a label, and a timer
  views = new Set();

  constructor(model) {
    this.model = model;
    model.on("msg:custom", (message) => this.hear(message));
    this.hear(model.get("start"));
    this.tell({ want: true }); // a page that is opened again begins with what is old
  }

  hear(message) {
    if (message.seq) {
      if (message.seq < this.seq) return;
      this.seq = message.seq;
      if (this.state && message.state.ask !== this.state.ask) {
        this.draft = { ...blank(), open: this.first };
        this.first = null;
      }
      this.state = message.state;
      this.problem = null;
      this.note("");
      for (const view of this.views) view.show();
    } else if (message.problem) {
      this.note("");
      this.problem = message;
      const at = this.draft.parts.length;
      if (this.draft.raw === null && message.part < at && !this.draft.open) this.edit(message.part);
      for (const view of this.views) view.compose("problem");
    }
  }

  /** Tell Python, and say so when nobody answers. */
  async tell(intent) {
    try {
      await tellMain(this.model, intent);
    } catch {
      this.note("The kernel behind this game is gone: run its cell again.");
    }
  }

  note(text) {
    clearTimeout(this.sent);
    this.status = text;
    for (const view of this.views) view.status.textContent = text;
  }

  ask(intent) {
    this.problem = null;
    this.note("Sent.");
    this.sent = setTimeout(
      () => this.note("Sent. The kernel is busy with another cell; it reads this when that is done."),
      1200,
    );
    this.tell(intent);
  }

  send() {
    const { raw, forget } = this.draft;
    const reply = raw === null ? this.parts() : raw;
    this.ask({ ask: this.state.ask, reply, fault: forget ? "forget" : "" });
  }

  /** Everything that would be sent now. An open form counts; an open empty text does not. */
  parts() {
    const { parts, open } = this.draft;
    return open && (open.tool || open.text.trim()) ? [...parts, open] : parts;
  }

  /** Take a part of the reply back into the form. */
  edit(at) {
    [this.draft.open] = this.draft.parts.splice(at, 1);
  }

  form(name) {
    return this.state.tools.find((tool) => tool.name === name);
  }

  /** The reply as the JSON that a model would send, with ids so that they can be tampered with. */
  json(parts = this.parts()) {
    const blocks = parts.map((part, place) => {
      if (!part.tool) return { type: "text", text: part.text };
      const id = `toolu_mine_${this.state.ask}${"abcdefghij"[place] ?? place}`;
      return { type: "tool_use", id, name: part.tool, input: this.input(part) };
    });
    return JSON.stringify(blocks, null, 2);
  }

  input({ tool, values }) {
    const input = {};
    for (const { name, kind, type } of this.form(tool).fields) {
      if (values[name]) input[name] = typed(kind, type, values[name]);
    }
    return input;
  }

  /** Replies that go wrong, each in its own way, to be looked at before they are sent. */
  spoilt(how) {
    const tool = this.parts().find((part) => part.tool) ?? this.example();
    const [block] = JSON.parse(this.json([tool]));
    if (how === "twice") return [block, block];
    if (how === "unknown") return [{ ...block, name: `${block.name}_please` }];
    const [first] = this.form(tool.tool).fields;
    return [{ ...block, input: first ? { [`${first.name}s`]: ["wrong"] } : { surprise: true } }];
  }

  /** The first tool, its form filled in somehow. */
  example() {
    const [tool] = this.state.tools;
    const values = {};
    for (const { name, kind, options, required } of tool.fields) {
      if (required) values[name] = { integer: "1", number: "1", json: "[]" }[kind] ?? options[0] ?? "ls";
    }
    return { tool: tool.name, values };
  }
}

/** As Python reads it: numbers as numbers, JSON as JSON, and what cannot be read as the text it is. */
function typed(kind, type, text) {
  if (kind === "text" || (kind === "choice" && type !== "true or false")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

class Session {
  cells = new Map(); // key -> element
  shown = new Map(); // key -> its HTML

  constructor(desk, host) {
    this.desk = desk;
    this.host = host;
    const root = host.attachShadow({ mode: "open" });
    this.head = build("p", { class: "head", "aria-live": "polite" });
    this.stop = button("stop", () => desk.ask({ stop: true }), { title: "leave the game" });
    this.region = build("div", { class: "region" });
    this.sees = build("div", { class: "picture sees", tabindex: "0", role: "group" }, this.region);
    this.sees.setAttribute("aria-label", "what the model sees");
    this.mine = build("div", { class: "session" });
    this.status = build("p", { class: "note", role: "status" });
    this.frame = build("section", { class: "frame", "aria-label": "be the model" });
    const top = build("div", { class: "top" }, this.head, this.stop);
    this.frame.append(top, this.sees, this.mine, this.status);
    root.append(build("style", {}, desk.model.get("css")), this.frame);
    this.listen();
    desk.views.add(this);
    if (desk.state) this.show(true);
  }

  listen() {
    const life = (this.life = new AbortController());
    const on = (target, type, act, capture = false) =>
      target.addEventListener(type, act, { signal: life.signal, capture });
    // On the window and first, so that the notebook's own shortcuts do not take our keys.
    on(window, "keydown", (event) => this.key(event), true);
    for (const [enter, leave] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
      on(this.sees, enter, (event) => this.pair(event.target));
      on(this.sees, leave, () => this.pair(null));
    }
    const shade = () => this.host.toggleAttribute("data-dark", isDark(this.frame));
    const watch = new MutationObserver(() => requestAnimationFrame(shade));
    watch.observe(document.documentElement, { attributes: true });
    watch.observe(document.body, { attributes: true });
    on(life.signal, "abort", () => watch.disconnect());
    on(document, "load", () => requestAnimationFrame(shade), true);
    requestAnimationFrame(shade);
  }

  close() {
    this.life.abort();
    this.desk.views.delete(this);
  }

  key(event) {
    if (!event.composedPath().includes(this.frame)) return;
    const chord = event.ctrlKey || event.metaKey;
    if (chord && event.key === "Enter") {
      event.preventDefault();
      if (this.desk.state?.phase === "yours") this.desk.send();
    } else if (chord || event.altKey) return;
    event.stopPropagation();
  }

  pair(target) {
    const all = [...this.sees.querySelectorAll("[data-pair]")];
    const names = target?.closest("[data-pair]")?.dataset.pair.split(" ") ?? [];
    for (const one of all) {
      const shared = one.dataset.pair.split(" ").some((name) => names.includes(name));
      one.toggleAttribute("data-paired", shared);
    }
  }

  /** Bring the page to the desk's state, touching only what differs. */
  show(fresh = this.cells.size === 0) {
    const { state } = this.desk;
    const said = state.remarks ?? [];
    const first = said.find(([good]) => good === false) ?? said.find(([good]) => good);
    const head = first ? `${REMARKS[first[0]][1]} ${first[1]}` : state.head;
    if (this.head.textContent !== head) this.head.textContent = head;
    this.stop.hidden = ["ready", "ended", "left", "broken"].includes(state.phase);
    this.sees.hidden = state.frame.length === 0;
    const keys = new Set(state.frame.map(([key]) => key));
    for (const [key, cell] of this.cells) {
      if (!keys.has(key)) cell.remove(), this.cells.delete(key), this.shown.delete(key);
    }
    let changed = null;
    state.frame.forEach(([key, html], place) => {
      let cell = this.cells.get(key);
      if (!cell) this.cells.set(key, (cell = build("div", { "data-key": key })));
      const differs = this.shown.get(key) !== html;
      if (differs) {
        const open = cell.querySelector("details")?.open;
        cell.innerHTML = html;
        this.shown.set(key, html);
        if (open) cell.querySelector("details").open = true;
      }
      const mark = differs && !fresh && !cell.firstElementChild?.matches("[data-quiet]");
      if (differs || state.phase === "works") cell.toggleAttribute("data-changed", mark);
      if (mark) changed = cell;
      if (this.region.children[place] !== cell) this.region.insertBefore(cell, this.region.children[place] ?? null);
    });
    if (changed) this.reveal(changed);
    this.compose("state");
  }

  /** Scroll what the model sees, never the page, until an element can be read. */
  reveal(element) {
    const box = this.sees.getBoundingClientRect();
    const its = element.getBoundingClientRect();
    if (its.bottom > box.bottom) {
      this.sees.scrollTop += Math.min(its.bottom - box.bottom + 12, its.top - box.top - 12);
    } else if (its.top < box.top) this.sees.scrollTop -= box.top - its.top + 12;
  }

  /** Build the place to answer in. `why` says what happened, and so where the focus goes. */
  compose(why) {
    const { phase, undo, ask } = this.desk.state;
    this.status.textContent = this.desk.status ?? "";
    const doing = `${phase} ${ask} ${undo}`;
    if (why === "state" && doing === this.doing) {
      if (this.line?.isConnected) this.line.textContent = this.desk.state.head;
      return;
    }
    const had = this.mine.contains(this.host.shadowRoot.activeElement);
    const waited = this.waited; // the focus was here before the harness took over
    this.doing = doing;
    // While the harness works the place stays as high as it was, so that the page does not jump.
    this.mine.style.minHeight = phase === "works" ? `${this.mine.offsetHeight}px` : "";
    const fills = { ready: () => this.ready(), yours: () => this.composer(), refused: () => this.refused() };
    const fill = fills[phase];
    this.mine.replaceChildren((fill ?? (() => this.news(phase)))());
    if (why === "state") {
      this.waited = phase === "works" && (had || waited);
      if (!this.waited && (had || waited)) (this.mine.querySelector("button.pick,button.primary") ?? this.sees).focus();
    } else this.focus(why);
    this.marks();
  }

  focus(why) {
    const raw = this.mine.querySelector("textarea.raw");
    if (why === "raw") raw.setSelectionRange(0, 0);
    const at = {
      problem: "[aria-invalid=true]",
      open: ".fields :is(textarea,input,select)",
      raw: "textarea.raw",
      form: ".mode",
      added: ".pick",
    }[why];
    (this.mine.querySelector(at) ?? this.mine.querySelector("button.primary"))?.focus();
  }

  refused() {
    const { desk } = this;
    const back = () => desk.ask({ back: true });
    const say = desk.state.undo
      ? "In an ordinary script this is an exception. Here you may take the reply that led to it back."
      : "Not even the first request was accepted, so there is nothing to take back.";
    const mine = build("div", { class: "mine" }, build("p", { class: "prose" }, say));
    if (desk.state.undo) mine.append(button("take my reply back", back, { class: "primary" }));
    return mine;
  }

  begin(text = this.desk.state.again, open = null, look = "primary") {
    const start = () => ((this.desk.first = open), this.desk.ask({ start: true }));
    return button(text, start, { class: look });
  }

  /** Before the start: the task, and what can be put into the first reply. */
  ready() {
    const [task, note] = this.desk.state.remarks;
    const label = (mark, glyph, word) => build("span", { class: `label t-${mark}` }, build("i", {}, glyph), ` ${word}`);
    const asks = build("div", { class: "block m-user" }, label("user", "■", "user"), build("div", { class: "prose" }, task[1]));
    const tools = this.desk.state.tools.map(({ name }) => this.begin(`→ ${name}`, { tool: name, values: {} }, "pick"));
    const text = this.begin("write text", { text: "" }, "pick");
    const mine = build(
      "div",
      { class: "mine" },
      build("div", { class: "line" }, label("assistant", "◆", "assistant"), build("span", { class: "note" }, "your reply")),
      build("div", { class: "row" }, ...tools, build("span", { class: "why" }, "or"), text),
      build("div", { class: "row" }, this.begin()),
    );
    return build("div", { class: "ready" }, build("p", { class: "note" }, note[1]), asks, mine);
  }

  /** How the run stands, where the reader looks after sending, what the game says, and how to start. */
  news(phase) {
    const { head, again } = this.desk.state;
    const news = build("div", { class: "news" });
    if (phase in NEWS) {
      const [mark, glyph] = NEWS[phase];
      this.line = build("span", {}, head);
      news.append(build("div", { class: "line" }, build("i", { class: `t-${mark}` }, glyph), this.line));
    }
    for (const [good, text] of this.desk.state.remarks ?? []) {
      const [key, glyph] = REMARKS[good];
      const mark = build("i", { class: `t-${key}` }, glyph);
      news.append(build("div", { class: "remark" }, mark, build("span", {}, text)));
    }
    if (again) {
      news.append(build("div", { class: "row" }, this.begin()));
      news.append(build("p", { class: "problem", role: "alert" }, this.desk.problem?.problem ?? ""));
    }
    return news;
  }

  composer() {
    const { desk } = this;
    const { draft } = desk;
    const raw = draft.raw !== null;
    const mode = button(
      raw ? "back to the forms" : "edit as JSON",
      () => {
        draft.raw = raw ? null : desk.json();
        desk.problem = null;
        this.compose(raw ? "form" : "raw");
      },
      { class: "mode" },
    );
    const label = build("span", { class: "label t-assistant" }, build("i", {}, "◆"), " assistant");
    const title = build(
      "div",
      { class: "line" },
      label,
      build("span", { class: "note" }, "your reply"),
      build("span", { class: "right" }, mode),
    );
    const body = raw ? [this.raw()] : [...draft.parts.map((part, at) => this.part(part, at)), ...this.picker()];
    const problem = build("p", { class: "problem", role: "alert" }, desk.problem?.problem ?? "");
    const mine = build("div", { class: "mine" }, title, ...body, problem, this.sending(), this.breaking());
    return mine;
  }

  /** A part of the reply that is ready. */
  part(part, at) {
    const { desk } = this;
    const name = part.tool ?? "text";
    const mark = part.tool ? "call" : "assistant";
    const head = build("span", { class: `label t-${mark}` }, build("i", {}, part.tool ? "→" : "◆"));
    head.append(part.tool ? " call" : " text");
    if (part.tool) head.append(build("b", {}, name));
    const input = part.tool ? desk.input(part) : part.text;
    const values = typeof input === "string" ? [input] : Object.entries(input).map(
      ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    const body = build("div", { class: part.tool ? "code" : "prose" }, values.join("\n") || "no arguments");
    const act = (text, says, act) =>
      button(text, () => (act(), (desk.problem = null), this.compose("open")), { "aria-label": says });
    return build(
      "div",
      { class: "chosen" },
      build("div", { class: `block m-${mark}` }, build("div", { class: "line" }, head), body),
      act("edit", `edit part ${at + 1}, ${name}`, () => {
        const open = desk.parts().length > desk.draft.parts.length ? desk.draft.open : null;
        desk.edit(at);
        if (open) desk.draft.parts.push(open);
      }),
      act("remove", `remove part ${at + 1}, ${name}`, () => desk.draft.parts.splice(at, 1)),
    );
  }

  /** Text or one of the tools, and the form for it. */
  picker() {
    const { desk } = this;
    const { draft } = desk;
    const pick = (text, open, chosen) =>
      button(
        text,
        () => {
          // What was written is kept, and the call goes into the same reply.
          if (draft.open && !draft.open.tool) draft.parts = desk.parts();
          draft.open = chosen ? null : open;
          desk.problem = null;
          this.compose(chosen ? "added" : "open");
        },
        { class: "pick", "aria-pressed": String(chosen) },
      );
    const { open } = draft;
    const tools = desk.state.tools.map((tool) =>
      pick(`→ ${tool.name}`, { tool: tool.name, values: {} }, open?.tool === tool.name),
    );
    const text = pick("write text", { text: "" }, Boolean(open && !open.tool));
    const verb = draft.parts.length ? "and also" : "call a tool, or";
    const row = build("div", { class: "row", role: "group", "aria-label": "what to put into the reply" });
    row.append(...tools, build("span", { class: "why" }, tools.length ? "or" : ""), text);
    if (draft.parts.length) row.prepend(build("span", { class: "why" }, verb));
    return open ? [row, this.form(open)] : [row];
  }

  form(open) {
    const box = build("div", { class: "fields" });
    if (!open.tool) {
      const input = build("textarea", {
        class: "prose",
        "aria-label": "text of the reply",
        oninput: () => ((open.text = input.value), this.marks()),
      });
      input.value = open.text;
      box.append(input);
      return box;
    }
    const tool = this.desk.form(open.tool);
    box.append(build("p", { class: "note" }, tool.fields.length ? tool.about : `${tool.about}\n\nIt takes no arguments.`));
    if (Object.keys(tool.ready ?? {}).length) {
      const fill = () => ((open.values = { ...open.values, ...tool.ready }), this.compose("open"));
      box.append(build("div", { class: "row" }, button("fill it in for me", fill)));
    }
    tool.fields.forEach((field, place) => box.append(this.field(field, open, place)));
    return box;
  }

  field(field, open, place) {
    const { desk } = this;
    const id = `field${place}`;
    const wrong = desk.problem?.field === field.name && desk.problem.part === desk.draft.parts.length;
    const rules = { id, "aria-required": String(field.required), "aria-invalid": String(wrong) };
    let input;
    if (field.kind === "choice") {
      input = build("select", rules);
      input.append(new Option(field.required ? "choose…" : "(left out)", ""));
      for (const option of field.options) input.append(new Option(option, option));
    } else if (field.kind === "integer" || field.kind === "number") {
      input = build("input", { ...rules, inputmode: "decimal", autocomplete: "off" });
    } else {
      input = build("textarea", { ...rules, rows: "1", spellcheck: "false" });
    }
    input.value = open.values[field.name] ?? "";
    input.oninput = () => {
      open.values[field.name] = input.value;
      input.setAttribute("aria-invalid", "false");
      this.marks();
    };
    const about = [field.type, field.required ? "required" : "optional", field.about].filter(Boolean);
    const label = build("label", { for: id }, build("b", {}, field.name), build("span", {}, about.join(" · ")));
    return build("div", { class: "field" }, label, input);
  }

  raw() {
    const { draft } = this.desk;
    const input = build("textarea", {
      class: "raw",
      spellcheck: "false",
      "aria-label": "the reply as JSON: a list of blocks",
      "aria-invalid": String(Boolean(this.desk.problem)),
      oninput: () => ((draft.raw = input.value), this.marks()),
    });
    input.value = draft.raw;
    return input;
  }

  sending() {
    const { desk } = this;
    const { draft } = desk;
    const row = build("div", { class: "row" });
    const send = button("send the reply", () => desk.send(), { class: "primary", title: "Ctrl+Enter" });
    row.append(send);
    if (draft.raw === null) {
      const keep = () => {
        const missing = this.missing();
        if (missing) desk.problem = { problem: `${missing} is required`, field: missing, part: draft.parts.length };
        else (draft.parts = desk.parts()), (draft.open = null), (desk.problem = null);
        this.compose(missing ? "problem" : "added");
      };
      this.add = button("add another call or text", keep, { title: "keep this, and put more into the same reply" });
      row.append(this.add);
    } else this.add = null;
    this.says = build("span", { class: "note" });
    row.append(this.says);
    return row;
  }

  /** The first required field of the open form that is empty. */
  missing() {
    const { open } = this.desk.draft;
    const fields = open?.tool ? this.desk.form(open.tool).fields : [];
    return fields.find((field) => field.required && !open.values[field.name])?.name;
  }

  breaking() {
    const { desk } = this;
    const { draft } = desk;
    const { faults } = desk.state; // of a harness that is ours, and not the learner's
    const spoil = (how) => () => {
      draft.raw = JSON.stringify(desk.spoilt(how), null, 2);
      desk.problem = null;
      this.compose("raw");
    };
    const box = build("details", { class: "break", ontoggle: () => (draft.broken = box.open) });
    box.open = draft.broken;
    const forget = build("input", {
      type: "checkbox",
      onchange: () => ((draft.forget = forget.checked), this.marks()),
    });
    forget.checked = draft.forget;
    const row = build("div", { class: "row" });
    if (desk.state.tools.length) {
      row.append(
        ...(faults ? [build("label", {}, forget, "this time the harness forgets the tool_result")] : []),
        button("two calls with one id", spoil("twice")),
        button("a tool that does not exist", spoil("unknown")),
        button("arguments that do not fit", spoil("arguments")),
      );
    }
    box.append(build("summary", {}, "Break it"), row);
    return box;
  }

  /** Say what would be sent now. */
  marks() {
    if (!this.mine.querySelector("button.primary") || this.desk.state.phase !== "yours") return;
    const { draft } = this.desk;
    const parts = this.desk.parts();
    const calls = parts.filter((part) => part.tool).map((part) => part.tool);
    const texts = parts.length - calls.length;
    const what = [
      calls.length ? `${calls.length} call${calls.length > 1 ? "s" : ""} (${calls.join(", ")})` : "",
      texts ? `${texts} text${texts > 1 ? "s" : ""}` : "",
    ].filter(Boolean);
    let says = what.length ? `sends ${what.join(" and ")}` : "nothing to send yet";
    if (what.length && !calls.length) says += ": without a call, the loop ends";
    if (draft.raw !== null) says = "sends this JSON as it stands";
    if (draft.forget && (calls.length || draft.raw !== null)) says += "; its result will be forgotten";
    this.says.textContent = says;
    const nothing = !what.length && draft.raw === null; // pressed all the same, it says so
    this.mine.querySelector("button.primary").setAttribute("aria-disabled", nothing);
    if (this.add) this.add.hidden = !draft.open || !parts.includes(draft.open);
  }
}

export default () => {
  let desk;
  return {
    initialize({ model }) {
      desk = new Desk(model);
    },
    render({ el }) {
      const host = build("div", { class: "learnkit-session" });
      el.append(host);
      const session = new Session(desk, host);
      return () => session.close();
    },
  };
};
