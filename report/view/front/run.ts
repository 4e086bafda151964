// What follows from a document: rows, what is in memory at a row, what led to what.

import { Document, Event, Piece, Region, Request, Span } from "./document";

// Line is a row of the timeline as it is shown.
export interface Line {
  step: number;
  last: number;
  marked: boolean;
  cells: string[][]; // by host
  sources: string[];
  events: number[];
  point: number; // memory is shown as it is after this event
  before: number; // and compared with what it was after this one
}

export type CellState = {
  offset: number;
  length: number;
  bytes: number[];
  fresh: boolean; // it changed in this row
  read: boolean; // somebody looked at it in this row
  there: number; // the request whose part this is while others of its parts are missing, or -1
  missing: number; // the request whose part is missing here while others are there, or -1
  coming: { request: number; bytes: number[] }[]; // what is on its way here
  doubt: boolean; // a power failure might undo it
};

const cellBytes = 8;

export class Run {
  readonly folded: Line[];
  readonly all: Line[];
  private readonly piecesOf: Piece[][];
  private readonly samples: Piece[];
  private readonly linesOf = new Map<Line[], Int32Array>();

  constructor(readonly doc: Document) {
    this.folded = doc.rows.map((r) => ({ ...r, marked: !!r.marked, point: 0, before: 0 }));
    this.all = [];
    doc.events.forEach((e, i) => {
      if (e.host < 0 || e.cell === "") return;
      const cells = doc.hosts.map((_, h) => (h === e.host ? [e.cell] : []));
      const sources = e.source < 0 ? [] : [doc.sources[e.source].name];
      this.all.push({ step: e.step, last: e.step, marked: !!e.marked, cells, sources, events: [i], point: 0, before: 0 });
    });
    for (const lines of [this.folded, this.all]) {
      let at = -1;
      lines.forEach((l, i) => {
        l.before = at;
        at = Math.max(at, ...l.events);
        if (i === lines.length - 1) at = doc.events.length;
        l.point = at;
      });
      const index = new Int32Array(doc.events.length + 1).fill(-1);
      lines.forEach((l, i) => l.events.forEach((e) => (index[e] = i)));
      let last = 0; // what is not shown belongs to the row before
      for (let e = 0; e < index.length; e++) last = index[e] = index[e] < 0 ? last : index[e];
      this.linesOf.set(lines, index);
    }
    this.samples = doc.pieces.filter((p) => p.fate === "sampled");
    this.piecesOf = doc.requests.map(() => []);
    for (const p of doc.pieces) if (p.request >= 0) this.piecesOf[p.request].push(p);
  }

  // lineOf is the row that shows an event, or comes before it.
  lineOf(lines: Line[], event: number): number {
    const index = this.linesOf.get(lines)!;
    return index[Math.min(event, index.length - 1)];
  }

  // lineAt is the last row of a step, or the one before it.
  lineAt(lines: Line[], step: number): number {
    let at = 0;
    lines.forEach((l, i) => {
      if (l.step <= step) at = i;
    });
    return at;
  }

  pieces(request: number): Piece[] {
    return this.piecesOf[request];
  }

  // name returns a unique name for a request.
  name(request: number): string {
    const r = this.doc.requests[request];
    return `${r.op} #${r.number} ${r.qp}`;
  }

  // late reports whether a piece is known to have landed after its completion: somebody
  // looked in between and did not find it. That the simulator decides late where a
  // piece is says nothing about when a card put it there.
  late(p: Piece): boolean {
    const r = this.doc.requests[p.request];
    return p.fate === "landed" && r.done >= 0 && p.event > r.done && this.missed(p, r.done, p.event);
  }

  // missed reports whether somebody looked at bytes between two events.
  private missed(x: { region: number; offset: number; length: number }, after: number, before: number): boolean {
    const looks = (k: Span) => k.region === x.region && k.event > after && k.event < before && overlaps(k, x.offset, x.offset + x.length);
    return this.doc.looks.some(looks) || this.samples.some(looks);
  }

  // tale is what became of a request, in words.
  tale(request: number): string {
    const r = this.doc.requests[request];
    const step = (e: number) => (e < this.doc.events.length ? `step ${this.doc.events[Math.max(e, 0)].step}` : "the end");
    const parts = [`posted in ${step(r.posted)}`];
    for (const p of this.pieces(request)) {
      const what = p.length === r.length ? "" : `bytes ${p.offset} to ${p.offset + p.length - 1} `;
      if (p.fate === "dropped") parts.push(`${what}never in memory (${step(p.event)})`);
      else if (p.fate === "gone") parts.push(`nobody had looked when its memory was gone (${step(p.event)})`);
      else if (p.fate === "sampled") parts.push(`${what}taken from memory in ${step(p.event)}`);
      else parts.push(`${what}in memory by ${step(p.event)}${this.late(p) ? ", after its completion" : ""}`);
    }
    if (this.pieces(request).length === 0 && r.region >= 0) parts.push("nobody looks whether it is in memory");
    parts.push(r.done < 0 ? "no completion is seen" : `completion in ${step(r.done)}: ${r.status}`);
    return [...new Set(parts)].join("; ");
  }

  // memory is the content of a region after a row, in cells.
  memory(region: number, l: Line): CellState[] {
    const r = this.doc.regions[region];
    const now = new Uint8Array(r.size);
    const was = new Uint8Array(r.size);
    const owner = new Int32Array(r.size).fill(-1); // the request that brought a byte
    const touched = new Uint8Array(r.size);
    for (const c of this.doc.changes) {
      if (c.region !== region) continue;
      const data = bytesOf(c.data);
      touched.fill(1, c.offset, c.offset + data.length);
      if (c.event > l.point) continue;
      now.set(data, c.offset);
      owner.fill(c.request, c.offset, c.offset + data.length);
      if (c.event <= l.before) was.set(data, c.offset);
    }
    const cells: CellState[] = [];
    const coming = this.coming(region, l.point);
    for (const q of coming) touched.fill(1, q.offset, q.offset + q.length);
    for (let at = 0; at < r.size; at += cellBytes) {
      const end = Math.min(at + cellBytes, r.size);
      if (!touched.subarray(at, end).some((x) => x > 0)) continue;
      const bytes = Array.from(now.subarray(at, end));
      cells.push({
        offset: at, length: end - at, bytes,
        fresh: bytes.some((b, i) => b !== was[at + i]),
        read: this.doc.looks.some((k) => within(k.event, l) && k.region === region && overlaps(k, at, end)) ||
          this.doc.pieces.some((k) => k.fate === "sampled" && within(k.event, l) && k.region === region && overlaps(k, at, end)),
        there: this.torn(l.point, owner, at, end),
        missing: -1,
        coming: coming.filter((q) => overlaps(q, at, end)).map((q) => ({ request: q.request, bytes: q.data.slice(at - q.offset < 0 ? 0 : at - q.offset, end - q.offset) })),
        doubt: this.doubtful(region, l.point, at, end),
      });
    }
    this.markMissing(l.point, cells);
    return cells;
  }

  // coming are the parts of Writes that are under way to a region.
  private coming(region: number, point: number): { request: number; offset: number; length: number; data: number[] }[] {
    const out: { request: number; offset: number; length: number; data: number[] }[] = [];
    this.doc.requests.forEach((r, i) => {
      if (r.region !== region || r.posted > point || r.payload === "") return;
      const data = bytesOf(r.payload);
      const open = new Array<boolean>(r.length).fill(true);
      for (const p of this.pieces(i)) if (p.event <= point) open.fill(false, p.offset - r.offset, p.offset - r.offset + p.length);
      for (let at = 0; at < r.length; ) {
        const end = Math.min((Math.floor((r.offset + at) / cellBytes) + 1) * cellBytes - r.offset, r.length);
        if (open.slice(at, end).some((x) => x)) out.push({ request: i, offset: r.offset + at, length: end - at, data: data.slice(at, end) });
        at = end;
      }
    });
    return out;
  }

  // torn is the request that brought some of the bytes from at to end, if others of its
  // bytes are known to be missing after an event; or -1.
  private torn(point: number, owner: Int32Array, at: number, end: number): number {
    for (let i = at; i < end; i++) {
      const q = owner[i];
      if (q >= 0 && this.doc.requests[q].payload !== "" && this.gaps(q, point).length > 0) return q;
    }
    return -1;
  }

  // gaps are the parts of a Write that are known not to be in memory after an event:
  // they never come, or somebody looked and did not find them.
  private gaps(request: number, point: number): Span[] {
    const r = this.doc.requests[request];
    const landed = this.pieces(request).filter((p) => p.fate === "landed" && p.event <= point);
    const out: Span[] = [];
    for (let at = r.offset; at < r.offset + r.length; ) {
      const end = Math.min((Math.floor(at / cellBytes) + 1) * cellBytes, r.offset + r.length);
      const cell = { event: point, region: r.region, offset: at, length: end - at };
      at = end;
      if (landed.some((p) => overlaps(p, cell.offset, end))) continue;
      const dropped = this.pieces(request).some((p) => p.fate === "dropped" && p.event <= point && overlaps(p, cell.offset, end));
      if (dropped || this.missed(cell, r.posted, point + 1)) out.push(cell);
    }
    return out;
  }

  // markMissing marks the cells of a torn Write that it has not reached.
  private markMissing(point: number, cells: CellState[]) {
    for (const q of new Set(cells.map((c) => c.there).filter((q) => q >= 0))) {
      for (const g of this.gaps(q, point)) for (const c of cells) if (overlaps(g, c.offset, c.offset + c.length)) c.missing = q;
    }
  }

  private doubtful(region: number, point: number, at: number, end: number): boolean {
    let open = false;
    for (const d of this.doc.doubts) if (d.region === region && d.event <= point && overlaps(d, at, end)) open = d.open;
    return open;
  }

  // links are the events that led to an event, and those that it led to.
  links(event: number): { causes: number[]; effects: number[] } {
    const causes = new Set<number>();
    const effects = new Set<number>();
    const e = this.doc.events[event];
    if (e.request >= 0) {
      const r = this.doc.requests[e.request];
      const told = [r.posted, ...this.pieces(e.request).map((p) => p.event), r.done].filter((x) => x >= 0 && x < this.doc.events.length);
      for (const x of told) (x < event ? causes : effects).add(x);
    }
    this.memoryLinks(event, e, causes, effects);
    this.messageLinks(event, e, causes, effects);
    if (e.kind === "violation") causes.add(this.before(event, (x) => x.host === e.host && (x.kind === "load" || x.kind === "completion" || x.kind === "answered")));
    if (e.kind === "crash" || e.kind === "power") {
      for (const p of this.doc.pieces) if (p.event === event && p.request >= 0) causes.add(this.doc.requests[p.request].posted);
    }
    for (const s of [causes, effects]) {
      s.delete(event);
      s.delete(-1);
    }
    return { causes: [...causes].sort((a, b) => b - a), effects: [...effects].sort((a, b) => a - b) };
  }

  // memoryLinks joins a change of memory with the loads that find it.
  private memoryLinks(event: number, e: Event, causes: Set<number>, effects: Set<number>) {
    for (const k of this.doc.looks) {
      if (k.event === event) {
        for (const c of this.doc.changes) if (c.event <= event && c.region === k.region && overlaps({ offset: c.offset, length: c.data.length / 2 }, k.offset, k.offset + k.length)) causes.add(c.event);
      }
    }
    if (e.kind !== "land" && e.kind !== "store") return;
    for (const c of this.doc.changes) {
      if (c.event !== event) continue;
      for (const k of this.doc.looks) if (k.event > event && k.region === c.region && overlaps(k, c.offset, c.offset + c.data.length / 2)) {
        effects.add(k.event);
        break;
      }
    }
  }

  // messageLinks joins a call, its request, the answer and its arrival.
  private messageLinks(event: number, e: Event, causes: Set<number>, effects: Set<number>) {
    const other = (kind: string) => (x: Event) => x.kind === kind && x.host === e.peer && x.peer === e.host;
    const own = (kind: string) => (x: Event) => x.kind === kind && x.host === e.host && x.peer === e.peer;
    if (e.kind === "call") effects.add(this.after(event, other("request")));
    if (e.kind === "request") causes.add(this.before(event, other("call"))), effects.add(this.after(event, own("answer")));
    if (e.kind === "answer") causes.add(this.before(event, own("request"))), effects.add(this.after(event, other("answered")));
    if (e.kind === "answered") causes.add(this.before(event, other("answer")));
  }

  private before(event: number, f: (e: Event) => boolean): number {
    for (let i = event - 1; i >= 0; i--) if (f(this.doc.events[i])) return i;
    return -1;
  }

  private after(event: number, f: (e: Event) => boolean): number {
    return this.doc.events.findIndex((e, i) => i > event && f(e));
  }
}

function within(event: number, l: Line): boolean {
  return event > l.before && event <= l.point;
}

function overlaps(x: { offset: number; length: number }, at: number, end: number): boolean {
  return x.offset < end && at < x.offset + x.length;
}

export function bytesOf(hex: string): number[] {
  const out: number[] = [];
  for (let i = 0; i + 1 < hex.length; i += 2) out.push(parseInt(hex.slice(i, i + 2), 16));
  return out;
}

// valueText is bytes as replay prints them: 8 of them as a number of the machine.
export function valueText(bytes: number[]): string {
  if (bytes.length !== 8) return bytes.map((b) => b.toString(16).padStart(2, "0")).join(" ");
  const hex = [...bytes].reverse().map((b) => b.toString(16).padStart(2, "0")).join("");
  return "0x" + (hex.replace(/^0+/, "") || "0");
}

// asText is bytes as characters, with a dot for those that do not print.
export function asText(bytes: number[]): string {
  return bytes.map((b) => (b > 32 && b < 127 ? String.fromCharCode(b) : "·")).join("");
}

// regionName returns the name of a region in tables and strips.
export function regionName(doc: Document, r: Region): string {
  return `${doc.hosts[r.host]}, ${r.name === "" ? `region ${r.number}` : `persistent region “${r.name}”`}${r.life > 0 ? `, life ${r.life}` : ""}`;
}

export function stepText(l: { step: number; last: number }): string {
  return l.step === l.last ? String(l.step) : `${l.step}-${l.last}`;
}

// isFailure reports whether a request completed with an error.
export function isFailure(r: Request): boolean {
  return r.done >= 0 && r.status !== "SUCCESS";
}
