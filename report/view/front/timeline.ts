// The timeline: a table with a lane for each host, and arrows over it.

import { button, el, svg } from "./dom";
import { isFailure, Line, Run, stepText } from "./run";

export class Timeline {
  readonly element: HTMLElement;
  private readonly rows: HTMLTableRowElement[] = [];
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly overlay: SVGElement;
  private readonly lanes: HTMLElement[] = [];
  private readonly arrows: SVGElement[] = []; // by request
  private selected = -1;

  constructor(
    private readonly run: Run,
    private readonly lines: Line[],
    lastChance: number,
    private readonly choose: (row: number) => void,
  ) {
    const doc = run.doc;
    const head = el("tr", {}, el("th", { scope: "col", class: "step" }, "step"));
    for (const h of doc.hosts) {
      const th = el("th", { scope: "col" }, h);
      this.lanes.push(th);
      head.append(th);
    }
    head.append(el("th", { scope: "col", class: "source" }, "source"));
    const body = el("tbody");
    const up = upAfter(run, lines);
    lines.forEach((l, i) => body.append(this.row(l, i, up[i], i === lastChance)));
    const columns = el("colgroup", {}, el("col", { class: "step" }), ...this.widths(), el("col", { class: "source" }));
    const table = el("table", { class: "timeline", "aria-label": "Timeline: a column for each host, time downwards" }, columns, el("thead", {}, head), body);
    this.overlay = svg("svg", { class: "arrows", "aria-hidden": "true" });
    this.element = el("div", { class: "lanes" }, table, this.overlay);
  }

  // widths are columns that are wider the more they have to hold, above all in one row.
  private widths(): HTMLElement[] {
    const need = this.run.doc.hosts.map((_, h) => {
      const cells = this.lines.map((l) => l.cells[h].reduce((m, t) => m + t.length, 0));
      return 10 + 2 * Math.sqrt(Math.max(0, ...cells)) + Math.sqrt(cells.reduce((n, c) => n + c, 0)) / 4;
    });
    const all = need.reduce((a, b) => a + b, 0);
    return need.map((n) => {
      const c = el("col");
      c.style.width = `${((80 * n) / all).toFixed(2)}%`;
      return c;
    });
  }

  private row(l: Line, i: number, up: boolean[], chance: boolean): HTMLTableRowElement {
    const doc = this.run.doc;
    const violation = l.events.some((e) => doc.events[e].kind === "violation");
    const b = button(stepText(l), () => this.choose(i), { tabindex: "-1" });
    this.buttons.push(b);
    const mark = l.marked ? el("span", { class: "mark" }, "!") : null;
    const tr = el("tr", l.marked ? { class: violation ? "marked violation" : "marked" } : {}, el("th", { scope: "row", class: "step" }, mark, b));
    l.cells.forEach((cell, h) => {
      const td = el("td", { class: up[h] ? "up" : "down" });
      cell.forEach((text, k) => td.append(k > 0 ? "; " : "", el("span", {}, text)));
      tr.append(td);
    });
    const source = el("td", { class: "source" }, l.sources.join(", "));
    const found = doc.sources.find((s) => s.name === l.sources[l.sources.length - 1]);
    if (found !== undefined && found.lines.length > 0) tr.title = found.name + "\n" + found.lines[found.line - found.first].trim();
    tr.append(source);
    if (chance) {
      tr.classList.add("chance");
      source.append(el("span", { class: "note" }, "the promise could still be kept"));
    }
    tr.addEventListener("click", () => this.choose(i));
    this.rows.push(tr);
    return tr;
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
    const box = this.element.getBoundingClientRect();
    if (box.width === 0) return;
    const x = this.lanes.map((t) => t.getBoundingClientRect().left - box.left + 9);
    const tops = this.rows.map((r) => r.offsetTop + 13);
    const bottom = this.element.scrollHeight;
    this.overlay.setAttribute("width", String(box.width));
    this.overlay.setAttribute("height", String(bottom));
    this.arrows.length = 0;
    const groups = this.run.doc.requests.map((_, q) => {
      const g = this.arrow(q, x, tops);
      this.arrows.push(g);
      return g;
    });
    this.overlay.replaceChildren(...groups);
    if (this.selected >= 0) this.select(this.selected, false);
  }

  // toPaper cuts the arrows into a piece for each row, so that they stay with their rows
  // where a page of paper ends, and stretch with them.
  toPaper() {
    this.draw();
    const width = this.element.getBoundingClientRect().width;
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

  // arrow is a request from its post by way of its pieces to its completion.
  private arrow(q: number, x: number[], tops: number[]): SVGElement {
    const r = this.run.doc.requests[q];
    const g = svg("g", { class: "request" });
    if (r.host < 0 || r.peer < 0) return g;
    const at = (event: number) => tops[this.run.lineOf(this.lines, event)];
    const [from, to] = [x[r.host], x[r.peer]];
    const start = at(r.posted);
    g.append(svg("circle", { cx: from, cy: start, r: 4, class: "post" }));
    const pieces = this.run.pieces(q);
    const whole = pieces.reduce((n, p) => n + (p.fate === "landed" || p.fate === "sampled" ? p.length : 0), 0) >= r.length;
    let end = -1;
    const drawn = new Set<string>();
    for (const p of pieces) {
      const y = at(p.event);
      if (p.fate === "gone") {
        if (drawn.size === 0) g.append(line(from, start, to, y, "unseen"), svg("circle", { cx: to, cy: y, r: 3, class: "open" }));
        drawn.add(p.fate + y);
        continue;
      }
      if (drawn.has(p.fate + y)) continue;
      drawn.add(p.fate + y);
      if (p.fate === "dropped") {
        const mx = from + (to - from) * 0.75, my = start + (y - start) * 0.75;
        g.append(line(from, start, mx, my, "dropped"), cross(mx, my));
        continue;
      }
      g.append(line(from, start, to, y, (this.run.late(p) ? "late " : "") + "go"), head(from, start, to, y, whole));
      end = Math.max(end, y);
    }
    if (pieces.length === 0 && r.region >= 0) {
      const sx = from + Math.sign(to - from) * 26, sy = start + 12;
      g.append(line(from, start, sx, sy, "unseen"), svg("circle", { cx: sx, cy: sy, r: 3, class: "open" }));
    }
    if (r.done >= 0) {
      const y = at(r.done);
      if (end >= 0 && y >= end && from !== to) g.append(line(to, end, from, y, "back"));
      g.append(isFailure(r) ? cross(from, y) : svg("rect", { x: from - 3, y: y - 3, width: 6, height: 6, class: "done" }));
    }
    return g;
  }
}

function line(x1: number, y1: number, x2: number, y2: number, cls: string): SVGElement {
  return svg("line", { x1, y1, x2, y2, class: cls });
}

function cross(x: number, y: number): SVGElement {
  return svg("path", { d: `M${x - 5},${y - 5}l10,10m0,-10l-10,10`, class: "cross" });
}

// head is the tip of an arrow: filled if all of the request arrives there, and hollow
// if it is a part.
function head(x1: number, y1: number, x2: number, y2: number, whole: boolean): SVGElement {
  const a = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  return svg("path", { d: "M0,0l-10,-4.5v9z", transform: `translate(${x2},${y2}) rotate(${a})`, class: whole ? "tip" : "tip part" });
}

// upAfter tells which hosts are up after each row.
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
