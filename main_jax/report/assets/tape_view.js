/** The tape in rows as wide as the page allows, of which only those in sight exist. */
class TapeView {
  constructor(panel, episode) {
    this.episode = episode;
    this.scroller = panel.querySelector(".tape");
    this.rows = panel.querySelector(".rows");
    this.overview = panel.querySelector(".overview");
    this.shown = new Map(); // row number -> element
    this.t = 0;
    this.rows.replaceChildren();
    this.scroller.setAttribute("aria-label", `Tape of ${episode.numCells} cells`);
    this.scroller.onscroll = () => this.draw();
    this.overview.onpointerdown = (event) => this.goTo(event);
    this.overview.onpointermove = (event) => event.buttons && this.goTo(event);
    this.resize();
  }

  resize() {
    const style = getComputedStyle(this.scroller);
    const size = (name) => parseFloat(style.getPropertyValue(name));
    const lanes = this.episode.numHeads * size("--lane-height");
    this.rowHeight = size("--token-height") + lanes + size("--row-gap");
    for (let pass = 0; pass < 2; pass++) { // the first may bring a scroll bar, which takes room
      const room = this.scroller.clientWidth - size("--gutter");
      const fitting = Math.floor(room / size("--least-width"));
      this.columns = Math.max(1, fitting < 10 ? fitting : fitting - (fitting % 5));
      const width = Math.min(room / this.columns, size("--most-width"));
      this.rows.style.setProperty("--cell-width", `${width}px`);
      this.numRows = Math.ceil(this.episode.numCells / this.columns);
      this.rows.style.height = `${this.numRows * this.rowHeight}px`;
    }
    this.rows.replaceChildren();
    this.shown.clear();
    this.overview.hidden = this.scroller.scrollHeight <= this.scroller.clientHeight;
    this.draw();
  }

  /** Shows position t; the head to follow, if any, is brought into sight. */
  show(t, follow) {
    this.t = t;
    this.tape = this.episode.tapeAt(t);
    const step = this.episode.stepTo(t);
    if (follow !== null) this.reveal(Math.max(0, step ? step.heads[follow] : 0));
    this.draw();
  }

  reveal(cell) {
    const top = Math.floor(cell / this.columns) * this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop || top + this.rowHeight > scrollTop + clientHeight) {
      this.scroller.scrollTop = top - (clientHeight - this.rowHeight) / 2;
    }
  }

  draw() {
    this.tape ??= this.episode.tapeAt(this.t);
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.rowHeight));
    const last = Math.min(this.numRows - 1, Math.floor((scrollTop + clientHeight) / this.rowHeight));
    for (const [number, row] of this.shown) {
      if (number < first || number > last) {
        row.remove();
        this.shown.delete(number);
      }
    }
    for (let number = first; number <= last; number++) {
      if (!this.shown.has(number)) this.addRow(number);
      for (const cell of this.shown.get(number).cells) this.drawCell(cell);
    }
    this.drawOverview();
  }

  addRow(number) {
    const begin = number * this.columns;
    const end = Math.min(begin + this.columns, this.episode.numCells);
    const row = element("div", "row");
    row.style.top = `${number * this.rowHeight}px`;
    row.append(this.makeGutter(begin));
    row.cells = [];
    for (let position = begin; position < end; position++) {
      const cell = this.makeCell(position);
      row.cells.push(cell);
      row.append(cell);
    }
    this.shown.set(number, row);
    this.rows.append(row);
  }

  /** The row's first cell number, and which lane is whose. */
  makeGutter(begin) {
    const gutter = element("div", "gutter");
    gutter.append(element("div", "index", String(begin)));
    for (let head = 0; head < this.episode.numHeads; head++) {
      const lane = element("div", "lane-name", this.episode.headMark(head));
      lane.style.setProperty("--head", `var(${this.episode.headColour(head)})`);
      gutter.append(lane);
    }
    return gutter;
  }

  makeCell(position) {
    const { episode } = this;
    const cell = element("div", "cell");
    cell.position = position;
    cell.fixed = "token";
    cell.title = `Cell ${position}`;
    // The last two landmarks are the tape's start and end.
    if (episode.landmarks.slice(0, -2).includes(position)) {
      cell.fixed += " landmark";
      cell.title += `, landmark ${episode.tape[position]}`;
    }
    if (position === 0) cell.fixed += " start";
    if (position === episode.numCells - 1) cell.fixed += " end";
    cell.token = element("div", cell.fixed);
    cell.append(cell.token);
    cell.lanes = Array.from({ length: episode.numHeads }, (_, head) => {
      const lane = element("div", "lane");
      lane.style.setProperty("--head", `var(${episode.headColour(head)})`);
      return lane;
    });
    cell.append(...cell.lanes);
    return cell;
  }

  /** Touches only what differs from what is shown: most cells stay as they are. */
  drawCell(cell) {
    const { episode, t, tape } = this;
    const { position, token, lanes } = cell;
    const [now, before] = [episode.stepTo(t), episode.stepTo(t - 1)];
    let mark = "";
    lanes.forEach((lane, head) => {
      const here = now?.heads[head] === position;
      const came = before?.heads[head] === position;
      if (here) mark = episode.headColour(head); // the write heads come last and show
      change(lane, "className", `lane${here ? " here" : ""}${came ? " came" : ""}`);
      change(lane, "textContent", here ? episode.headMark(head) : "");
      const level = episode.level(t, head, position);
      if (lane.level !== level) lane.style.setProperty("--level", `${100 * level}%`);
      lane.level = level;
    });
    change(token, "textContent", tape[position]);
    const state = episode.stateOf(tape, t, position);
    change(token, "className", `${cell.fixed} ${state}${mark ? " marked" : ""}`);
    if (cell.mark !== mark) token.style.setProperty("--mark", mark ? `var(${mark})` : "transparent");
    cell.mark = mark;
  }

  /** All cells at a glance: where the heads are, what is right, what is in sight. */
  drawOverview() {
    const { overview, episode, t, tape } = this;
    if (overview.hidden) return;
    const scale = window.devicePixelRatio || 1;
    const width = (overview.width = overview.clientWidth * scale);
    const height = (overview.height = overview.clientHeight * scale);
    const context = overview.getContext("2d");
    const each = width / episode.numCells;
    const bar = (colour, cell, top, bottom, least = 0) => {
      context.fillStyle = colour;
      const [left, right] = [Math.floor(cell * each), Math.ceil((cell + 1) * each)]; // without seams
      const wide = Math.max(right - left, least * scale);
      const from = Math.min(left, width - wide);
      context.fillRect(from, top * height, wide, (bottom - top) * height);
    };
    const colours = {
      "": colourOf("--line"), open: colourOf("--open"), right: colourOf("--right"), wrong: colourOf("--wrong"),
    };
    for (let cell = 0; cell < episode.numCells; cell++) {
      bar(colours[episode.stateOf(tape, t, cell)], cell, 0.4, 0.75);
    }
    const now = episode.stepTo(t);
    now?.heads.forEach((cell, head) => {
      const [top, bottom] = head < episode.numReads ? [0, 0.4] : [0.75, 1];
      bar(colourOf(episode.headColour(head)), cell, top, bottom, 3);
    });
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    context.strokeStyle = colourOf("--ink");
    context.lineWidth = scale;
    context.strokeRect(
      (scrollTop / scrollHeight) * width + scale / 2, scale / 2,
      Math.min(1, clientHeight / scrollHeight) * width - scale, height - scale,
    );
  }

  goTo(event) {
    const share = event.offsetX / this.overview.clientWidth;
    this.scroller.scrollTop = share * this.scroller.scrollHeight - this.scroller.clientHeight / 2;
  }
}

function change(node, property, value) {
  if (node[property] !== value) node[property] = value;
}

/** The colour that a custom property stands for in the theme of the moment. */
function colourOf(name) {
  colourOf.probe ??= document.body.appendChild(element("i", "probe"));
  colourOf.probe.style.color = `var(${name})`;
  return getComputedStyle(colourOf.probe).color;
}
