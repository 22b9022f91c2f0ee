// The newest wish wins. One flight is in the air at a time, so nothing old can land after something
// new; what is wished meanwhile waits, and only the last of it is kept.
//
// A flight that is overtaken is aborted, but not at once: while a slider is dragged a wish comes with
// every frame, and if each aborted the one before, nothing would be seen until the hand rests.

const SHORTEST_MS = 150;
const LONGEST_MS = 4000;

export class Latest {
  #fly;
  #running = null;
  #waiting = null;
  #timer = 0;
  #patience = SHORTEST_MS;

  /** `fly(item, flight)` does the work; it heeds `flight.signal`, and calls `flight.seen()` once
   *  something of it can be seen, after which it may be aborted without delay. */
  constructor(fly) {
    this.#fly = fly;
  }

  /** Wish for an item: `{key, ...}`; wishing for what is in the air already changes nothing. */
  ask(item, { now = false } = {}) {
    const running = this.#running;
    if (!running) {
      this.#start(item);
      return;
    }
    this.#waiting = item.key === running.key ? null : item;
    clearTimeout(this.#timer);
    if (!this.#waiting) return;
    const left = now || running.isSeen ? 0 : running.started + this.#patience - performance.now();
    if (left > 0) this.#timer = setTimeout(() => running.abort.abort(), left);
    else running.abort.abort();
  }

  async #start(item) {
    const running = {
      key: item.key, abort: new AbortController(), started: performance.now(), isSeen: false,
    };
    this.#running = running;
    const seen = () => {
      if (running.isSeen) return;
      running.isSeen = true;
      this.#patience = held(1.5 * (performance.now() - running.started));
      if (this.#waiting) running.abort.abort();
    };
    try {
      await this.#fly(item, { signal: running.abort.signal, seen });
    } catch (error) {
      if (!running.abort.signal.aborted) console.error(error);
      // One that was aborted unseen was given too little time: else nothing might ever be seen.
      if (!running.isSeen) this.#patience = held(2 * this.#patience);
    }
    clearTimeout(this.#timer);
    this.#running = null;
    if (this.#waiting) {
      const next = this.#waiting;
      this.#waiting = null;
      this.#start(next);
    }
  }
}

function held(patience) {
  return Math.min(Math.max(patience, SHORTEST_MS), LONGEST_MS);
}
