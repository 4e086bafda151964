// The arrows of a timeline: for each request, one from its post to each of its pieces, and one back to its completion.

import { Request } from "./document";
import { svg } from "./dom";
import { Box, Point, Routes } from "./routes";
import { isFailure, Line, Run } from "./run";

export class Arrows {
  private readonly routes: Routes;

  constructor(
    private readonly run: Run,
    private readonly lines: Line[],
    private readonly x: number[], // horizontal positions of the lanes
    private readonly tops: number[], // vertical positions of the marks, by row
    gaps: number[],
    words: Box[][],
  ) {
    this.routes = new Routes(words, gaps);
  }

  all(): SVGElement[] {
    return this.run.doc.requests.map((r, q) => this.arrow(r, q));
  }

  private row(event: number): number {
    return this.run.lineOf(this.lines, event);
  }

  private at(host: number, row: number): Point {
    return { x: this.x[host], y: this.tops[row] };
  }

  private arrow(r: Request, q: number): SVGElement {
    const g = svg("g", { class: "request" });
    if (r.host < 0 || r.peer < 0) return g;
    const first = this.row(r.posted);
    const start = this.at(r.host, first);
    g.append(svg("circle", { cx: start.x, cy: start.y, r: 4, class: "post" }));
    const to = (row: number) => this.routes.way(start, this.at(r.peer, row), first, row, q);
    const last = this.pieces(g, q, to);
    if (this.run.pieces(q).length === 0 && r.region >= 0) {
      const stub = { x: start.x + 5, y: start.y + 11 };
      g.append(wire([start, stub], "unseen"), svg("circle", { cx: stub.x, cy: stub.y, r: 3, class: "open" }));
    }
    if (r.done >= 0) {
      const row = this.row(r.done);
      const end = this.at(r.host, row);
      if (last >= 0 && row >= last && r.host !== r.peer) g.append(wire(this.routes.way(this.at(r.peer, last), end, last, row, q + 1), "back"));
      g.append(isFailure(r) ? cross(end) : svg("rect", { x: end.x - 3, y: end.y - 3, width: 6, height: 6, class: "done" }));
    }
    return g;
  }

  // pieces draws the fate of each piece, and returns the last row in which a piece was placed or read, or -1.
  private pieces(g: SVGElement, q: number, to: (row: number) => Point[]): number {
    const r = this.run.doc.requests[q];
    const pieces = this.run.pieces(q);
    const whole = pieces.reduce((n, p) => n + (p.fate === "landed" || p.fate === "sampled" ? p.length : 0), 0) >= r.length;
    let last = -1;
    const drawn = new Set<string>();
    for (const p of pieces) {
      const row = this.row(p.event);
      if (drawn.has(p.fate + row) || (p.fate === "gone" && drawn.size > 0)) continue;
      drawn.add(p.fate + row);
      const way = to(row);
      const end = way[way.length - 1];
      if (p.fate === "gone") {
        g.append(wire(way, "unseen"), svg("circle", { cx: end.x, cy: end.y, r: 3, class: "open" }));
      } else if (p.fate === "dropped") {
        g.append(wire(way, "dropped"), cross(end));
      } else {
        g.append(wire(way, (this.run.late(p) ? "late " : "") + "go"), head(way[way.length - 2], end, whole));
        last = Math.max(last, row);
      }
    }
    return last;
  }
}

function wire(way: Point[], cls: string): SVGElement {
  return svg("polyline", { points: way.map((p) => `${p.x},${p.y}`).join(" "), class: "wire " + cls });
}

function cross(p: Point): SVGElement {
  return svg("path", { d: `M${p.x - 5},${p.y - 5}l10,10m0,-10l-10,10`, class: "cross" });
}

// head draws the tip of an arrow: filled if the whole request arrives, and hollow if only
// a part of it does.
function head(from: Point, to: Point, whole: boolean): SVGElement {
  const a = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
  return svg("path", { d: "M0,0l-10,-4.5v9z", transform: `translate(${to.x},${to.y}) rotate(${a})`, class: whole ? "tip" : "tip part" });
}
