// The tape: every patch that Python sent, and from it the frame after any number of them.

const KEYFRAME = 50; // steps between two frames that are kept whole

/** All patches so far. Frame k is an array of keys and a map from key to HTML. */
export class Tape {
  steps = [];
  stops = []; // the steps at which the picture changes
  finding = ""; // what the whole picture shows at the end
  because = ""; // and the line below that
  tall = 0; // height of the tallest diagram, so that none jumps
  resets = 0; // how often everything began anew, for a picture of another width
  frames = [{ order: [], html: new Map() }]; // frames[i] stands before step i * KEYFRAME
  listeners = new Set();

  /** Take a message; return false when something before it is missing. */
  take({ seq, patches, finding, because, reset }) {
    if (reset) {
      Object.assign(this, { steps: [], stops: [], tall: 0, frames: this.frames.slice(0, 1) });
      this.resets++;
      return true;
    }
    if (seq > this.steps.length) return false;
    this.finding = finding ?? "";
    this.because = because ?? "";
    for (const patch of patches.slice(this.steps.length - seq)) {
      if (!this.steps.length || patch.set || patch.drop || patch.order) {
        this.stops.push(this.steps.length);
      }
      const size = patch.set?.find(([key]) => key === "@/size");
      if (size) this.tall = Math.max(this.tall, JSON.parse(size[1])[2]);
      this.steps.push(patch);
      if (this.steps.length % KEYFRAME === 0) this.frames.push(this.frame(this.last, true));
    }
    for (const listener of this.listeners) listener();
    return true;
  }

  get last() {
    return this.steps.length - 1;
  }

  /** The frame after step k, from `base` if that is nearer than a kept one. */
  frame(k, fresh = false, base = null) {
    let at = Math.min(Math.floor((k + 1) / KEYFRAME), this.frames.length - 1) * KEYFRAME;
    let from = this.frames[at / KEYFRAME];
    if (!fresh && base && base.k <= k && base.k + 1 > at) [at, from] = [base.k + 1, base];
    const frame = { k, order: [...from.order], html: new Map(from.html) };
    for (; at <= k; at++) apply(frame, this.steps[at]);
    return frame;
  }
}

function apply(frame, { set = [], drop = [], at = {}, order }) {
  if (drop.length) {
    const gone = new Set(drop);
    frame.order = frame.order.filter((key) => !gone.has(key));
    for (const key of drop) frame.html.delete(key);
  }
  for (const [key, html] of set) {
    if (!frame.html.has(key)) {
      const place = key in at ? frame.order.indexOf(at[key]) : frame.order.length;
      frame.order.splice(place, 0, key);
    }
    frame.html.set(key, html);
  }
  if (order) frame.order = [...order];
}
