// The page of one run.

import { decisionText } from "./decisions";
import { Document, Violation } from "./document";
import { button, el } from "./dom";
import { hand } from "./hand";
import { details, linksOf, memory, operations, requests, story } from "./panels";
import { Player } from "./player";
import { Line, Run } from "./run";
import { Timeline } from "./timeline";

const version = 1;

const keys: [string, string][] = [
  ["↓ or j, ↑ or k", "next or previous row"],
  ["Home, End", "first or last row"],
  ["n, p", "next or previous fault, or the violation"],
  ["c, e", "to the cause, to the effect"],
  ["b", "back to where you were"],
  ["f", "fold or unfold"],
  ["s", "start or stop playing"],
  ["+, -", "larger, smaller"],
];

class Viewer {
  private lines: Line[];
  private timeline!: Timeline;
  private row = 0;
  private trail: number[] = []; // events to go back to
  private closed: HTMLDetailsElement[] = []; // that are open while the page is printed
  private readonly place = el("div");
  private readonly side = el("aside", { "aria-label": "The selected row" });
  private readonly live = el("p", { class: "hidden", "aria-live": "polite", role: "status" });
  private readonly fold: HTMLButtonElement;
  private readonly player = new Player(() => this.next(), (size) => this.resize(size));

  constructor(
    private readonly run: Run,
    app: HTMLElement,
  ) {
    this.lines = run.folded;
    this.fold = button("Show every event", () => this.toggle(), { "aria-pressed": "false", id: "fold" });
    const legend = el("p", { class: "legend" });
    for (const [mark, text] of [["●", "posted"], ["▶", "all of it is in memory, or read"], ["▷", "a part"], ["- -", "in memory after its completion"], ["○", "nobody looks"], ["✕", "fails, or never lands"], ["■", "completion"], ["!", "fault"], ["◇", "a choice out of the ordinary"]]) {
      legend.append(el("span", {}, el("b", {}, mark), " " + text));
    }
    const help = el("details", { class: "help" }, el("summary", {}, "Keys"), el("dl", {}, ...keys.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
    const main = el(
      "main",
      {},
      ...[run.doc.hand === null ? null : hand(run.doc.hand), story(run, (step) => this.select(run.lineAt(this.lines, step), true)), operations(run)].filter((x): x is HTMLElement => x !== null),
      el("div", { class: "tools" }, this.player.element, this.fold, help, el("p", { class: "note", id: "left-out" }, this.leftOut())),
      legend,
      el("div", { class: "columns" }, this.place, this.side),
      ...[requests(run)].filter((x): x is HTMLElement => x !== null),
    );
    app.replaceChildren(header(run, (step) => this.select(run.lineAt(this.lines, step), true)), main, this.live);
    this.draw();
    document.addEventListener("keydown", (e) => this.key(e));
    let waiting = false;
    new ResizeObserver(() => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.timeline.draw();
      });
    }).observe(this.place);
    this.select(this.first(), false);
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // print gets the page ready for paper: all is unfolded that says something, and the
  // arrows are cut at the rows. The width is that of the print style.
  private print(on: boolean) {
    if (document.body.classList.contains("paper") === on) return;
    document.body.classList.toggle("paper", on);
    if (on) {
      this.closed = [...document.querySelectorAll<HTMLDetailsElement>("details:not(.help):not([open])")];
    }
    for (const d of this.closed) d.open = on;
    if (on) this.timeline.toPaper();
    else this.timeline.toScreen();
  }

  // first returns the row that is selected at first: the row in the address, else the row after the last chance to keep
  // the promise, else the violation.
  private first(): number {
    const m = /^#row-(\d+)$/.exec(location.hash);
    if (m) return Math.min(Number(m[1]), this.lines.length - 1);
    const chance = this.run.doc.violation?.lastChance ?? -1;
    if (chance >= 0) return Math.min(this.run.lineAt(this.lines, chance) + 1, this.lines.length - 1);
    const at = this.lines.findIndex((l) => l.events.some((e) => this.run.doc.events[e].kind === "violation"));
    return at >= 0 ? at : this.lines.length - 1;
  }

  // next selects the next row. It returns false if there is none.
  private next(): boolean {
    if (this.row + 1 >= this.lines.length) return false;
    this.select(this.row + 1, true);
    return true;
  }

  private resize(size: number) {
    this.place.style.setProperty("--size", String(size));
    this.timeline.draw();
  }

  private leftOut(): string {
    const n = this.run.doc.leftOut;
    return this.lines === this.run.all || n === 0 ? "" : `Left out: ${n} of allocations, registrations, connections, stores and what servers do.`;
  }

  private draw() {
    const v = this.run.doc.violation;
    const chance = v !== null && v.lastChance !== null && v.lastChance >= 0 ? this.run.lineAt(this.lines, v.lastChance) : -1;
    const choices = new Set(this.run.doc.decisions.map((x) => this.run.lineAt(this.lines, x.step)));
    this.timeline = new Timeline(this.run, this.lines, { chance, choices }, (row) => this.select(row, true));
    this.place.replaceChildren(this.timeline.element);
    this.timeline.draw();
  }

  private toggle() {
    if (this.lines.length === 0) return;
    const event = this.lines[this.row].events[0];
    const all = this.lines === this.run.folded;
    this.lines = all ? this.run.all : this.run.folded;
    this.fold.textContent = all ? "Fold what does not matter" : "Show every event";
    this.fold.setAttribute("aria-pressed", String(all));
    document.getElementById("left-out")!.textContent = this.leftOut();
    this.draw();
    this.select(this.run.lineOf(this.lines, event), true);
  }

  select(row: number, focus: boolean) {
    if (row < 0 || row >= this.lines.length) return;
    this.row = row;
    const l = this.lines[row];
    this.timeline.select(row, focus);
    this.side.replaceChildren(details(this.run, this.lines, row, (e) => this.jump(e)), memory(this.run, l));
    if (focus) {
      const said = l.cells.map((c, h) => (c.length > 0 ? `${this.run.doc.hosts[h]}: ${c.join("; ")}` : "")).filter((x) => x !== "");
      this.live.textContent = `Step ${l.step}. ${said.join(". ")}`;
      history.replaceState(null, "", `#row-${this.run.lineOf(this.run.folded, l.events[0])}`); // a folded row, because a page opens folded
    }
  }

  private jump(event: number) {
    this.trail.push(this.lines[this.row].events[0]);
    this.select(this.run.lineOf(this.lines, event), true);
  }

  private key(e: KeyboardEvent) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const marked = (by: number) => {
      for (let i = this.row + by; i >= 0 && i < this.lines.length; i += by) if (this.lines[i].marked) return this.select(i, true);
    };
    const link = (kind: "causes" | "effects") => {
      const to = linksOf(this.run, this.lines[this.row])[kind];
      if (to.length > 0) this.jump(to[0]);
    };
    const act: Record<string, () => void> = {
      ArrowDown: () => this.select(this.row + 1, true), j: () => this.select(this.row + 1, true),
      ArrowUp: () => this.select(this.row - 1, true), k: () => this.select(this.row - 1, true),
      Home: () => this.select(0, true), End: () => this.select(this.lines.length - 1, true),
      n: () => marked(1), p: () => marked(-1),
      c: () => link("causes"), e: () => link("effects"),
      b: () => {
        const back = this.trail.pop();
        if (back !== undefined) this.select(this.run.lineOf(this.lines, back), true);
      },
      f: () => this.toggle(),
      s: () => this.player.toggle(),
      "+": () => this.player.zoom(1), "=": () => this.player.zoom(1), "-": () => this.player.zoom(-1),
    };
    const f = Object.prototype.hasOwnProperty.call(act, e.key) ? act[e.key] : undefined;
    if (f === undefined || this.lines.length === 0) return;
    e.preventDefault();
    f();
  }
}

// header says what is wrong, and how the run differs from the ordinary.
function header(run: Run, go: (step: number) => void): HTMLElement {
  const d = run.doc;
  const v = d.violation;
  const out = el("header");
  if (v === null) {
    out.append(el("h1", {}, d.hand === null ? `${d.scenario}: no promise is violated` : `${d.scenario}, by hand: ${d.outcome}`));
  } else {
    out.append(el("h1", v.litmus ? {} : { class: "broken" }, (v.litmus ? "Outcome " : "Promise broken: ") + v.class.replace(/-/g, " ")), message(v.message));
    if (d.note !== "") out.append(el("p", { class: "remark" }, d.note));
    const where = v.source >= 0 ? ` (${d.sources[v.source].name})` : "";
    const when = el("p", { class: "when" }, "Noticed in ", button(`step ${v.step}`, () => go(v.step)), where + ". ");
    if (v.lastChance !== null) when.append(...chance(v.lastChance, v, go));
    out.append(when);
  }
  if (d.decisions.length > 0) {
    const list = el("ol");
    for (const x of d.decisions) list.append(el("li", { title: `${x.take} at ${x.at}` }, button(`step ${x.step}`, () => go(x.step)), " " + decisionText(d, x)));
    out.append(el("details", d.decisions.length > maxOpen ? {} : { open: "" }, el("summary", {}, `What had to happen: ${d.decisions.length} ${d.decisions.length === 1 ? "choice" : "choices"} out of the ordinary`), list));
  }
  const facts = el("dl", { class: "facts" });
  const fact = (name: string, value: string) => value !== "" && facts.append(el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  fact("what is checked", d.doc);
  fact("bounds", d.bounds);
  fact("cards", d.profile + (d.strengthen ? `, strengthened by ${d.strengthen}` : ""));
  fact("allowed faults", d.faults);
  fact("timers", d.timers);
  fact("replay", d.outcome);
  fact("in a terminal", d.command);
  out.append(el("details", {}, el("summary", {}, `Scenario ${d.scenario}`), facts));
  return out;
}

// A list of more choices than maxOpen is closed at first, and so is a message that is longer than maxMessage.
const maxOpen = 8;
const maxMessage = 300;

// message shows the message of the check. A long message is folded.
function message(text: string): HTMLElement {
  const p = el("p", { class: "message" }, text);
  if (text.length <= maxMessage) return p;
  const first = text.split("\n")[0];
  return el("details", { class: "long" }, el("summary", {}, first.length > maxMessage ? first.slice(0, maxMessage) + "…" : first), p);
}

function chance(step: number, v: Violation, go: (step: number) => void): (Node | string)[] {
  const [kept, broke] = v.litmus ? ["be avoided", "reached it"] : ["be kept", "broke it"];
  if (step < 0) return [`No run that begins alike was found in which it could ${kept}: ${v.tried} were tried from each step on, back to step ${v.triedFrom}.`];
  return [
    "After ", button(`step ${step}`, () => go(step)),
    ` it could still ${kept}: a run that is the same so far and goes on otherwise shows it. Of ${v.tried} ways to go on that were tried after each later step, all ${broke}.`,
  ];
}

const app = document.getElementById("app")!;
const doc = JSON.parse(document.getElementById("run")!.textContent!) as Document;
if (doc.version !== version) {
  app.textContent = `This page is of version ${doc.version}, and its script reads ${version}.`;
} else {
  new Viewer(new Run(doc), app);
}
