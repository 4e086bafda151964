// The timeline: a lane with chips for each host, arrows between the lanes, and the events in full beside them.

import { Arrows } from "./arrows";
import { chips } from "./chips";
import { button, el, svg } from "./dom";
import { Box } from "./routes";
import { Line, Run, stepText } from "./run";

// Decisive lists the rows that a reader must look at: the last row after which the promise could still be kept, and the
// rows in which the run left the ordinary course.
export interface Decisive { chance: number; choices: Set<number> }

// fewHosts is the number of lanes that fit beside the text on a narrow screen.
const fewHosts = 8;

export class Timeline {
  readonly element: HTMLElement;
  private readonly rows: HTMLTableRowElement[] = [];
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly chipsOf: HTMLElement[][] = []; // by row
  private readonly overlay: SVGElement;
  private readonly table: HTMLElement;
  private readonly lanes: HTMLElement[] = [];
  private arrows: SVGElement[] = []; // by request
  private selected = -1;

  constructor(
    private readonly run: Run,
    private readonly lines: Line[],
    private readonly decisive: Decisive,
    private readonly choose: (row: number) => void,
  ) {
    const doc = run.doc;
    const head = el("tr", {}, el("th", { scope: "col", class: "step" }, "step"));
    for (const h of doc.hosts) {
      const th = el("th", { scope: "col" }, h);
      this.lanes.push(th);
      head.append(th);
    }
    head.append(el("th", { scope: "col", class: "what" }, "what happens"), el("th", { scope: "col", class: "source" }, "source"));
    const body = el("tbody");
    const up = upAfter(run, lines);
    lines.forEach((l, i) => body.append(this.row(l, i, up[i])));
    const columns = el("colgroup", {}, el("col", { class: "step" }), ...doc.hosts.map(() => el("col", { class: "lane" })), el("col"), el("col", { class: "source" }));
    this.table = el("table", { class: "timeline", "aria-label": "Timeline: a lane for each host, time downwards, and what happens in words" }, columns, el("thead", {}, head), body);
    this.overlay = svg("svg", { class: "arrows", "aria-hidden": "true" });
    this.element = el("div", { class: doc.hosts.length > fewHosts ? "lanes many" : "lanes" }, this.table, this.overlay);
    this.element.style.setProperty("--hosts", String(doc.hosts.length));
  }

  private row(l: Line, i: number, up: boolean[]): HTMLTableRowElement {
    const doc = this.run.doc;
    const violation = l.events.some((e) => doc.events[e].kind === "violation");
    const b = button(stepText(l), () => this.choose(i), { tabindex: "-1" });
    this.buttons.push(b);
    const step = el("th", { scope: "row", class: "step" }, l.marked ? el("span", { class: "mark" }, "!") : null);
    if (this.decisive.choices.has(i)) step.append(el("span", { class: "choice", title: "a choice out of the ordinary" }, "◇"));
    step.append(b);
    const tr = el("tr", l.marked ? { class: violation ? "marked violation" : "marked" } : {}, step);
    this.chipsOf.push([]);
    doc.hosts.forEach((_, h) => {
      const td = el("td", { class: up[h] ? "up" : "down" });
      for (const text of chips(this.run, l, h)) {
        const chip = el("span", { class: "chip", "aria-hidden": "true" }, text);
        this.chipsOf[i].push(chip);
        td.append(chip);
      }
      tr.append(td);
    });
    const what = this.words(l);
    tr.append(what);
    const source = el("td", { class: "source" }, l.sources.join(", "));
    const found = doc.sources.find((s) => s.name === l.sources[l.sources.length - 1]);
    if (found !== undefined && found.lines.length > 0) tr.title = found.name + "\n" + found.lines[found.line - found.first].trim();
    tr.append(source);
    if (i === this.decisive.chance) {
      tr.classList.add("chance");
      what.append(el("span", { class: "note" }, doc.violation?.litmus ? "it could still be avoided" : "the promise could still be kept"));
    }
    tr.addEventListener("click", () => this.choose(i));
    this.rows.push(tr);
    return tr;
  }

  // words shows the events of a row in full: a line for each host.
  private words(l: Line): HTMLElement {
    const td = el("td", { class: "what" });
    l.cells.forEach((cell, h) => {
      if (cell.length === 0) return;
      const text = el("span", { class: "said" });
      cell.forEach((t, k) => text.append(k > 0 ? "; " : "", el("span", {}, t)));
      td.append(el("div", { "data-host": String(h) }, el("span", { class: "host" }, this.run.doc.hosts[h]), " ", text));
    });
    return td;
  }

  select(row: number, focus: boolean) {
    if (this.selected >= 0) {
      this.rows[this.selected].classList.remove("selected");
      this.buttons[this.selected].removeAttribute("aria-current");
      this.buttons[this.selected].tabIndex = -1;
    }
    this.selected = row;
    this.rows[row].classList.add("selected");
    this.buttons[row].setAttribute("aria-current", "step");
    this.buttons[row].tabIndex = 0;
    if (focus) {
      this.buttons[row].focus({ preventScroll: true });
      this.rows[row].scrollIntoView({ block: "nearest" });
    }
    const l = this.lines[row];
    const doc = this.run.doc;
    this.arrows.forEach((a, q) => {
      const r = doc.requests[q];
      const told = l.events.some((e) => doc.events[e].request === q || e === r.posted || e === r.done) || this.run.pieces(q).some((p) => l.events.includes(p.event));
      a.classList.toggle("strong", told);
    });
  }

  // draw measures the table and draws the arrows over it.
  draw() {
    const box = this.table.getBoundingClientRect(); // a table with many hosts may be scrolled
    if (box.width === 0) return;
    const x = this.lanes.map((t) => t.getBoundingClientRect().left - box.left + 9);
    const tops = this.rows.map((r) => r.offsetTop + 13);
    const gaps = this.rows.map((r) => r.offsetTop + r.offsetHeight - 3);
    const words = this.chipsOf.map((row) => row.map((c) => inside(c, box)));
    this.overlay.setAttribute("width", String(box.width));
    this.overlay.setAttribute("height", String(box.height));
    this.arrows = new Arrows(this.run, this.lines, x, tops, gaps, words).all();
    this.overlay.replaceChildren(...this.arrows);
    if (this.selected >= 0) this.select(this.selected, false);
  }

  // toPaper cuts the arrows into a piece for each row, so that they stay with their rows
  // where a page of paper ends, and stretch with them.
  toPaper() {
    this.draw();
    const width = this.table.getBoundingClientRect().width;
    const boxes = this.arrows.map((a) => (a as SVGGraphicsElement).getBBox());
    this.rows.forEach((r) => {
      const [top, height] = [r.offsetTop, r.offsetHeight];
      const here = this.arrows.filter((_, q) => boxes[q].y <= top + height && boxes[q].y + boxes[q].height >= top);
      if (here.length === 0) return;
      const cut = svg("svg", { class: "arrows cut", "aria-hidden": "true", viewBox: `0 ${top} ${width} ${height}`, preserveAspectRatio: "none" });
      cut.append(...here.map((a) => a.cloneNode(true)));
      r.cells[0].append(cut);
    });
  }

  // toScreen takes back what toPaper did.
  toScreen() {
    this.element.querySelectorAll(".cut").forEach((c) => c.remove());
    this.draw();
  }
}

// inside returns the position of an element relative to an outer box.
function inside(e: HTMLElement, outer: DOMRect): Box {
  const r = e.getBoundingClientRect();
  return { left: r.left - outer.left, top: r.top - outer.top, right: r.right - outer.left, bottom: r.bottom - outer.top };
}

// upAfter returns which hosts are up after each row.
function upAfter(run: Run, lines: Line[]): boolean[][] {
  const up = run.doc.hosts.map(() => false);
  let at = 0;
  return lines.map((l) => {
    for (; at <= l.point && at < run.doc.events.length; at++) {
      const e = run.doc.events[at];
      if (e.kind === "start") up[e.host] = true;
      if (e.kind === "crash" || e.kind === "power" || e.kind === "end") up[e.host] = false;
    }
    return up.slice();
  });
}
