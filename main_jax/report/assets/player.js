/** What moves all panels through their steps: buttons, keys, the slider and the address's hash. */
class Player {
  constructor(data) {
    this.panels = data.recordings.map((recording) => new Panel(recording, byId("panels")));
    this.episodes = this.panels[0].episodes;
    this.t = 0;
    this.input = 0;
    this.playing = false;
    const tasks = new Set(this.panels.flatMap((panel) => panel.episodes.map((episode) => episode.task)));
    byId("title").textContent = document.title = `${[...tasks].join(" and ")}: replay`;
    this.fillSelects();
    this.makeLegend();
    this.listen();
    this.readHash();
  }

  fillSelects() {
    this.episodes.forEach((episode, index) => option("input", index, `${index + 1}: ${shorten(episode.input)}`));
    byId("input-field").hidden = this.episodes.length < 2;
    const [episode] = this.episodes;
    const heads = Array.from({ length: episode.numHeads }, (_, head) => head);
    for (const head of heads.reverse()) option("follow", head, `${episode.headName(head).toLowerCase()} head`);
    option("follow", "", "nothing");
    for (const speed of [1, 2, 5, 10, 25, 100]) option("speed", speed, `${speed}/s`);
    byId("speed").value = "5";
    this.setTheme("auto");
  }

  makeLegend() {
    const [episode] = this.episodes;
    const entry = (className, mark, text, colour) => {
      const item = element("li");
      const sample = element("span", `sample ${className}`, mark);
      if (colour) sample.style.setProperty("--head", `var(${colour})`);
      item.append(sample, text);
      byId("legend").append(item);
    };
    for (let head = 0; head < episode.numHeads; head++) {
      entry("here", episode.headMark(head), `${episode.headName(head)} head`, episode.headColour(head));
    }
    entry("came", "", "Head a step ago", "--ink");
    entry("heat", "", "More likely", "--ink");
    entry("token landmark", episode.tape[episode.landmarks[0]], "Landmark");
    entry("token open", ".", "Target");
    entry("token right", "7", "Right");
    entry("token wrong", "7", "Wrong at the end");
  }

  listen() {
    const actions = {
      first: () => this.go(0), back: () => this.go(this.t - 1), play: () => this.toggle(),
      forward: () => this.go(this.t + 1), last: () => this.go(this.end),
    };
    for (const [id, action] of Object.entries(actions)) byId(id).onclick = action;
    const keys = {
      " ": actions.play, ArrowLeft: actions.back, ArrowRight: actions.forward,
      Home: actions.first, End: actions.last,
    };
    document.addEventListener("keydown", (event) => {
      const action = keys[event.key];
      if (!action || event.ctrlKey || event.altKey || event.metaKey || this.isTaken(event)) return;
      event.preventDefault();
      action();
    });
    byId("scrub").oninput = () => this.go(Number(byId("scrub").value));
    byId("input").onchange = () => this.choose(Number(byId("input").value), 0);
    byId("follow").onchange = () => this.show();
    byId("theme").onclick = () => this.setTheme({ auto: "light", light: "dark", dark: "auto" }[this.theme]);
    window.addEventListener("hashchange", () => this.readHash());
    window.addEventListener("resize", () => this.resize());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
  }

  /** Lists keep their keys, and space presses the button that has the focus. */
  isTaken({ key, target }) {
    return target.matches("select") || (key === " " && target.matches("button, summary"));
  }

  get end() {
    return Math.max(...this.panels.map((panel) => panel.episode.end));
  }

  choose(input, t) {
    this.input = input;
    byId("input").value = String(input);
    const unpacked = this.panels.map((panel) => panel.choose(input));
    byId("scrub").max = String(this.end);
    this.go(t);
    Promise.all(unpacked).then(() => this.show()).catch(report);
  }

  /** Goes to a position and stops there. */
  go(t) {
    this.playing = false;
    this.t = Math.max(0, Math.min(t, this.end));
    this.show();
    this.settle();
  }

  toggle() {
    if (this.playing) return this.go(this.t);
    if (this.t >= this.end) this.t = 0;
    this.playing = true;
    this.show();
    let [begun, from] = [null, this.t];
    let speed = null;
    const frame = (now) => {
      if (!this.playing) return;
      const chosen = Number(byId("speed").value);
      if (chosen !== speed) [begun, from, speed] = [now, this.t, chosen];
      const t = Math.min(this.end, from + Math.floor(((now - begun) / 1000) * speed));
      if (t >= this.end) return this.go(this.end);
      if (t !== this.t) {
        this.t = t;
        this.show();
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  show() {
    const chosen = byId("follow").value;
    for (const panel of this.panels) panel.show(this.t, chosen === "" ? null : Number(chosen));
    byId("scrub").value = String(this.t);
    byId("scrub").setAttribute("aria-valuetext", `step ${this.t} of ${this.end}`);
    byId("position").textContent = `${this.t} / ${this.end}`;
    byId("play").textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    byId("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  /** What would be too much at every step of playing: the link to this step, and the sentence. */
  settle() {
    byId("spoken").textContent = this.panels.map((panel) => panel.describe(this.t)).join(" ");
    const hash = `#input=${this.input + 1}&step=${this.t}`;
    // Inside another page (a notebook), this one has no address of its own to link to.
    if (location.protocol !== "about:") history.replaceState(null, "", hash);
  }

  readHash() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const input = Number(wanted.get("input") ?? 1) - 1;
    this.choose(input in this.episodes ? input : 0, Math.floor(Number(wanted.get("step"))) || 0);
  }

  resize() {
    for (const panel of this.panels) panel.view.resize();
    this.show();
  }

  setTheme(theme) {
    this.theme = document.documentElement.dataset.theme = theme;
    byId("theme").textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[theme];
    byId("theme").setAttribute("aria-label", `Colours: ${theme}`);
    if (this.panels[0].view) this.show();
  }
}

function byId(id) {
  return document.getElementById(id);
}

function option(id, value, text) {
  const made = element("option", "", text);
  made.value = String(value);
  byId(id).append(made);
}

function report(error) {
  byId("problem").hidden = false;
  byId("problem").textContent = `This page cannot be shown in full here: ${error.message}`;
}

try {
  window.player = new Player(JSON.parse(byId("data").textContent));
} catch (error) {
  report(error);
}
