// The chips in the lanes: short words for the events of a host in a row. The text beside the lanes has them in full.

import { Event } from "./document";
import { Line, Run } from "./run";

const ops: Record<string, string> = {
  Write: "W", WriteImm: "WI", Read: "R", Send: "S", SendImm: "SI", CompareSwap: "CAS", FetchAdd: "FAA", AtomicWrite: "AW",
};

const words: Record<string, string> = {
  start: "start", end: "end", crash: "crash", power: "power", cut: "cut", heal: "heal", load: "load", store: "store", flush: "flush",
  call: "call", answered: "reply", request: "serve", answer: "answer", unreachable: "no reply", log: "note", timeout: "timer",
  alloc: "alloc", register: "reg", connect: "link", service: "ask", violation: "✗",
};

const maxChips = 3;

// chips returns the chips of a host in a row. A chip that occurs more than once has a count.
export function chips(run: Run, l: Line, host: number): string[] {
  const count = new Map<string, number>();
  for (const i of l.events) {
    const e = run.doc.events[i];
    if (e.host !== host) continue;
    const text = chip(run, e);
    // A Write that lands in several pieces counts once.
    const once = e.kind === "land" && text.startsWith("+");
    count.set(text, once ? 1 : (count.get(text) ?? 0) + 1);
  }
  const all = [...count].map(([text, n]) => (n > 1 ? `${text} ×${n}` : text));
  return all.length > maxChips ? [...all.slice(0, maxChips - 1), `+${all.length - maxChips + 1} more`] : all;
}

function chip(run: Run, e: Event): string {
  const r = e.request >= 0 ? run.doc.requests[e.request] : undefined;
  switch (e.kind) {
    case "start":
      return e.life > 0 ? `life ${e.life}` : "start";
    case "post":
      return r === undefined ? "post" : `${short(r.op)}#${r.number} ${r.length} B`;
    case "land":
      return r === undefined ? "+store" : atomic(e.text, r.op) ?? `+#${r.number}`;
    case "completion":
      if (r === undefined) return e.text.includes("SUCCESS") ? "✓ recv" : "✗ recv";
      return `${r.status === "SUCCESS" ? "✓" : "✗"}#${r.number}`;
  }
  return Object.prototype.hasOwnProperty.call(words, e.kind) ? words[e.kind] : e.kind;
}

function short(op: string): string {
  return Object.prototype.hasOwnProperty.call(ops, op) ? ops[op] : op;
}

// atomic shortens the effect of an Atomic, if the text of its landing has one.
function atomic(text: string, op: string): string | undefined {
  const swap = /swaps 0x(\w+)→0x(\w+)/.exec(text);
  if (swap !== null) return `${short(op)} ${swap[1]}→${swap[2]}`;
  const other = /finds 0x(\w+), not 0x(\w+)/.exec(text);
  if (other !== null) return `${short(op)} ${other[1]}≠${other[2]}`;
  const add = /adds 0x(\w+) to 0x(\w+)/.exec(text);
  return add === null ? undefined : `${short(op)} ${add[2]}+${add[1]}`;
}
