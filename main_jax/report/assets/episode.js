"use strict";

const ANYTHING = " "; // in a target: the cell may hold any token

/** One episode as main_jax/report/replay.py wrote it. Position t is the tape after t steps. */
class Episode {
  constructor(data) {
    Object.assign(this, data);
    this.numHeads = this.numReads + this.numWrites;
    this.numCells = this.tape.length;
    this.end = this.steps.length;
    this.targetCells = [...this.target].filter((cell) => cell !== ANYTHING).length;
    this.levels = null; // Uint8Array [T, heads, cells] once unpacked
  }

  /** Unpacks the heads' distributions; until then, the episode shows none. */
  async unpack() {
    if (this.levels) return;
    const packed = Uint8Array.from(atob(this.headLevels), (character) => character.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    this.levels = new Uint8Array(await new Response(unpacked).arrayBuffer());
  }

  /** The step that led to position t; none led to the start. */
  stepTo(t) {
    return t > 0 ? this.steps[t - 1] : null;
  }

  tapeAt(t) {
    const tape = [...this.tape];
    for (const step of this.steps.slice(0, t)) {
      // Halt has no results.
      [...step.results].forEach((token, w) => { tape[step.heads[this.numReads + w]] = token; });
    }
    return tape;
  }

  /** The square root of the probability that the head was put on the cell, 0 to 1. */
  level(t, head, cell) {
    if (!this.levels || t === 0) return 0;
    return this.levels[((t - 1) * this.numHeads + head) * this.numCells + cell] / 255;
  }

  /** "right", "wrong" (at the end only) or "open" for a target cell, "" for any other. */
  stateOf(tape, t, cell) {
    if (this.target[cell] === ANYTHING) return "";
    if (tape[cell] === this.target[cell]) return "right";
    return t === this.end ? "wrong" : "open";
  }

  rightCells(tape) {
    return tape.filter((token, cell) => token === this.target[cell]).length;
  }

  headName(head) {
    const writes = head >= this.numReads;
    const [kind, number, count] = writes
      ? ["Write", head - this.numReads + 1, this.numWrites]
      : ["Read", head + 1, this.numReads];
    return count > 1 ? `${kind} ${number}` : kind;
  }

  /** What stands in a cell under a head: 1, 2 … for reads, W (or W1, W2 …) for writes. */
  headMark(head) {
    if (head < this.numReads) return String(head + 1);
    return this.numWrites > 1 ? `W${head - this.numReads + 1}` : "W";
  }

  /** One of replay.css, which has three for reads and two for writes. */
  headColour(head) {
    return head < this.numReads
      ? `--read-${(head % 3) + 1}`
      : `--write-${((head - this.numReads) % 2) + 1}`;
  }
}

/** An element with a class and text; text is never markup. */
function element(name, className = "", text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
