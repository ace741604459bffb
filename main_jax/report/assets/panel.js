/** One recording: its label, the call, the tape, and what the controller thought. */
class Panel {
  constructor(recording, parent) {
    this.recording = recording;
    this.episodes = recording.episodes.map((data) => new Episode(data));
    const copy = document.getElementById("panel-template").content.cloneNode(true);
    this.root = copy.querySelector(".panel");
    this.find(".label").textContent = recording.label;
    this.find(".timesteps").textContent = `${recording.timesteps.toLocaleString("en")} timesteps`;
    this.root.setAttribute("aria-label", recording.label);
    parent.append(copy);
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  choose(index) {
    this.episode = this.episodes[index];
    this.view = new TapeView(this.root, this.episode);
    this.makeModules();
    this.drawValues();
    return this.episode.unpack();
  }

  show(t, follow) {
    t = Math.min(t, this.episode.end);
    const step = this.episode.stepTo(t);
    this.view.show(t, follow);
    this.showCall(step);
    this.showRules(step);
    this.showVerdict(t);
    this.showModules(step);
    this.showValue(t, step);
    this.find(".text").textContent = this.view.tape.join("");
  }

  showCall(step) {
    const call = this.find(".call");
    if (!step) {
      call.replaceChildren(element("span", "faint", `Input ${shorten(this.episode.input)}`));
      return;
    }
    const { episode } = this;
    const list = (characters, first) => [...characters].flatMap((character, index) => {
      const head = first + index;
      const cell = element("b", "argument", character);
      cell.style.setProperty("--head", `var(${episode.headColour(head)})`);
      cell.title = episode.headName(head);
      const place = element("sub", "", String(step.heads[head]));
      return index ? [", ", cell, place] : [cell, place];
    });
    const name = element("span", "name", episode.modules[step.module]);
    if (step.results) {
      const results = list(step.results, episode.numReads);
      call.replaceChildren(name, "(", ...list(step.arguments, 0), ") → ", ...results);
    } else call.replaceChildren(name); // Halt
  }

  /** The program's rules that apply, if there is a program; marked where they leave a choice. */
  showRules(step) {
    const rows = (step?.rules ?? []).map(({ choice, rule, open, allowed }) => {
      const row = element("li");
      row.append(element("b", "", choice), " ", rule || "no rule applies");
      if (open) row.append(" ", element("span", "open", "open choice"));
      if (!allowed) row.append(" ", element("span", "forbidden", "not what was done"));
      return row;
    });
    this.find(".rules").replaceChildren(...rows);
  }

  showVerdict(t) {
    const { episode } = this;
    const right = episode.rightCells(this.view.tape);
    const verdict = this.find(".verdict");
    if (episode.solved === null) {
      verdict.textContent = t < episode.end ? "" : `ended after ${t} steps, answer unknown`;
      return;
    }
    const count = `${right} of ${episode.targetCells} right`;
    if (t < episode.end) verdict.textContent = count;
    else verdict.textContent = episode.solved ? `✓ solved in ${t} steps` : `✗ not solved, ${count}`;
    verdict.dataset.state = t < episode.end ? "open" : episode.solved ? "right" : "wrong";
  }

  makeModules() {
    this.bars = this.episode.modules.map((name) => {
      const row = element("li");
      row.append(element("span", "name", name), element("span", "bar"), element("span", "percent"));
      return row;
    });
    this.find(".modules").replaceChildren(...this.bars);
  }

  showModules(step) {
    this.bars.forEach((row, index) => {
      const share = step ? step.moduleProbabilities[index] : 0;
      row.classList.toggle("chosen", step?.module === index);
      row.querySelector(".bar").style.setProperty("--share", `${100 * share}%`);
      row.querySelector(".percent").textContent = step ? `${(100 * share).toFixed(0)} %` : "";
    });
  }

  /** The value before each step as a curve over the steps. */
  drawValues() {
    const values = this.episode.steps.map((step) => step.value);
    const low = Math.min(0, ...values);
    const span = Math.max(0, ...values) - low || 1;
    const height = (value) => 38 - (36 * (value - low)) / span;
    this.across = (index) => (values.length > 1 ? (100 * index) / (values.length - 1) : 50);
    const points = values.map((value, index) => `${this.across(index).toFixed(2)},${height(value).toFixed(2)}`);
    this.find(".curve").setAttribute("points", points.join(" "));
    for (const end of ["y1", "y2"]) this.find(".zero").setAttribute(end, height(0));
  }

  showValue(t, step) {
    this.find(".value").textContent = step ? step.value.toFixed(2) : "";
    const place = this.across(Math.max(0, t - 1));
    for (const end of ["x1", "x2"]) this.find(".cursor").setAttribute(end, place);
    this.find(".cursor").classList.toggle("none", !step);
  }

  /** The position in a sentence, for those who listen. */
  describe(t) {
    const { episode } = this;
    const step = episode.stepTo(Math.min(t, episode.end));
    if (!step) return `${this.recording.label}: start.`;
    const named = (characters, first) => [...characters].map(
      (character, index) => `${character} at cell ${step.heads[first + index]}`,
    ).join(", ");
    const name = episode.modules[step.module];
    const result = named(step.results, episode.numReads);
    const call = step.results ? `${name} of ${named(step.arguments, 0)} gives ${result}` : name;
    return `${this.recording.label}: ${call}. ${this.find(".verdict").textContent}.`;
  }
}

function shorten(text) {
  return text.length > 40 ? `${text.slice(0, 24)}… (${text.length} characters)` : text;
}
