// What stands beside the timeline: the selected row, memory, and below it operations
// and requests as tables.

import { button, el, table } from "./dom";
import { otherwise } from "./hand";
import { asText, CellState, Line, regionName, Run, stepText, valueText } from "./run";
import { strips } from "./strips";

// details shows a row in full, with its causes and its effects.
export function details(run: Run, lines: Line[], row: number, jump: (event: number) => void): HTMLElement {
  const l = lines[row];
  const doc = run.doc;
  const out = el("section", { "aria-labelledby": "details-title" }, el("h2", { id: "details-title" }, `Step ${stepText(l)}`));
  const list = el("ul", { class: "events" });
  for (const i of l.events) {
    const e = doc.events[i];
    const host = e.host < 0 ? "" : doc.hosts[e.host] + (e.life > 0 ? `, life ${e.life}` : "");
    const text = e.kind === "violation" ? (doc.violation?.litmus ? "reaches the outcome: " : "violates the promise: ") + e.text : e.text;
    list.append(el("li", {}, el("b", {}, host), " " + text, e.request >= 0 ? el("div", { class: "tale" }, run.tale(e.request)) : null));
  }
  out.append(list);
  if (doc.hand !== null) {
    const steps = [...new Set(l.events.map((i) => doc.events[i].step))].filter((s) => s > 0);
    const completions = new Map<number, string>();
    for (const i of l.events) {
      const e = doc.events[i];
      if (e.kind === "completion" && e.request >= 0) completions.set(e.step, "the completion of " + run.name(e.request));
    }
    out.append(otherwise(doc.hand, steps, completions));
  }
  const links = linksOf(run, l);
  out.append(jumps(run, "because of", links.causes, jump), jumps(run, "leads to", links.effects, jump));
  const named = l.sources.map((n) => doc.sources.find((s) => s.name === n)).filter((s) => s !== undefined && s.lines.length > 0);
  const s = named[named.length - 1];
  if (s) {
    const pre = el("pre", { class: "code", "aria-label": `${s.name} and the lines around it`, tabindex: "0" });
    s.lines.forEach((text, i) => {
      const here = s.first + i === s.line;
      pre.append(el("span", here ? { class: "here" } : {}, `${here ? "▶" : " "}${String(s.first + i).padStart(4)}  ${text}\n`));
    });
    out.append(el("h3", {}, s.name), pre);
  }
  return out;
}

// linksOf are the causes and effects of a row that are in other rows.
export function linksOf(run: Run, l: Line): { causes: number[]; effects: number[] } {
  const causes = new Set<number>();
  const effects = new Set<number>();
  for (const i of l.events) {
    const x = run.links(i);
    x.causes.forEach((c) => l.events.includes(c) || causes.add(c));
    x.effects.forEach((c) => l.events.includes(c) || effects.add(c));
  }
  return { causes: [...causes].sort((a, b) => b - a), effects: [...effects].sort((a, b) => a - b) };
}

const maxJumps = 6;

function jumps(run: Run, title: string, events: number[], jump: (event: number) => void): HTMLElement {
  const out = el("div", { class: "jumps" });
  if (events.length === 0) return out;
  out.append(el("h3", {}, title));
  for (const i of events.slice(0, maxJumps)) {
    const e = run.doc.events[i];
    out.append(button(`step ${e.step}: ${e.host < 0 ? "" : run.doc.hosts[e.host] + " "}${e.text}`, () => jump(i)));
  }
  if (events.length > maxJumps) out.append(el("p", { class: "note" }, `and ${events.length - maxJumps} more`));
  return out;
}

const maxCells = 64;

// memory shows the regions that exist after a row, as strips and as tables of cells.
export function memory(run: Run, l: Line): HTMLElement {
  const out = el("section", { class: "memory", "aria-labelledby": "memory-title" }, el("h2", { id: "memory-title" }, `Memory after step ${l.last}`));
  const remote = new Set(run.doc.requests.map((r) => r.region));
  out.append(...strips(run, l));
  const named = el("details", {}, el("summary", {}, "Cell by cell"));
  const rest = el("details", {}, el("summary", {}, "Memory that no request names"));
  run.doc.regions.forEach((r, i) => {
    if (r.born > l.point || (r.gone >= 0 && r.gone <= l.point)) return;
    const cells = run.memory(i, l);
    const t = table(
      `${regionName(run.doc, r)}: ${r.size} bytes`,
      ["at", "value", "text", "state"],
      cells.slice(0, maxCells).map((c) => [String(c.offset), el("code", {}, valueText(c.bytes)), el("code", {}, asText(c.bytes)), states(run, c)]),
      "cells",
    );
    Array.from(t.tBodies[0].rows).forEach((tr, k) => (tr.className = classes(cells[k])));
    if (cells.length === 0) t.append(el("tbody", {}, el("tr", {}, el("td", { colspan: "4" }, "never written in this run"))));
    if (cells.length > maxCells) t.append(el("tbody", {}, el("tr", {}, el("td", { colspan: "4" }, `and ${cells.length - maxCells} more cells`))));
    (remote.has(i) ? named : rest).append(t);
  });
  if (named.children.length > 1) out.append(named);
  if (rest.children.length > 1) out.append(rest);
  return out;
}

function classes(c: CellState): string {
  const names = [];
  if (c.fresh) names.push("fresh");
  if (c.there >= 0 || c.missing >= 0) names.push("torn");
  if (c.coming.length > 0) names.push("coming");
  if (c.doubt) names.push("doubt");
  return names.join(" ");
}

// states says in words what the colours say.
function states(run: Run, c: CellState): HTMLElement {
  const out = el("span");
  const say = (cls: string, text: string) => out.append(el("span", { class: "state " + cls }, text), " ");
  const number = (request: number) => run.doc.requests[request].number;
  if (c.fresh) say("fresh", "◆ new");
  if (c.read) say("read", "◉ read");
  if (c.there >= 0) say("torn", `◣ torn: this part of #${number(c.there)} is there`);
  if (c.missing >= 0) say("torn", `◢ torn: this part of #${number(c.missing)} is missing`);
  if (c.coming.length > 0) say("coming", "→ undecided: " + c.coming.map((q) => `#${number(q.request)}’s ${valueText(q.bytes)}`).join(", "));
  if (c.doubt) say("doubt", "~ not persistent for certain");
  if (out.children.length === 0) say("", "old");
  return out;
}

const maxOperations = 12; // that are shown at once

// A story with more sentences than maxSentences is closed at first.
const maxSentences = 40;

// story shows the run in sentences. The step of a sentence selects its row.
export function story(run: Run, select: (step: number) => void): HTMLElement | null {
  const all = run.doc.story;
  if (all.length === 0) return null;
  const list = el("ol", { class: "story" }, ...all.map((s) => el("li", s.key ? { class: "key" } : {}, s.key ? el("span", { class: "star", title: "key sentence" }, "★") : null, button(`step ${s.step}`, () => select(s.step)), " " + s.text)));
  return el("details", all.length > maxSentences ? {} : { open: "" }, el("summary", {}, "The run in words"), list);
}

// operations draws a bar for each operation, in a lane for its client, as porcupine does.
export function operations(run: Run): HTMLElement | null {
  const ops = run.doc.operations;
  if (ops.length === 0) return null;
  const end = Math.max(1, ...run.doc.events.map((e) => e.step));
  const t = table(
    null,
    ["client", "operation", "result", "steps", "from first to last step"],
    ops.map((o) => {
      const bar = el("div", { class: o.end < 0 ? "bar open" : "bar", "aria-hidden": "true" });
      bar.style.marginLeft = `${(100 * o.begin) / end}%`;
      bar.style.width = `${Math.max(1, (100 * ((o.end < 0 ? end : o.end) - o.begin)) / end)}%`;
      return [o.client, o.call, o.end < 0 ? "no result" : o.result, o.end < 0 ? `${o.begin} …` : `${o.begin} to ${o.end}`, el("div", { class: "track" }, bar)];
    }),
    "operations",
  );
  const title = "What clients asked for and got";
  if (ops.length > maxOperations) return el("details", {}, el("summary", {}, `${title}: ${ops.length} operations`), t);
  return el("section", { "aria-labelledby": "operations-title" }, el("h2", { id: "operations-title" }, title), t);
}

// requests shows the arrows as a table.
export function requests(run: Run): HTMLElement | null {
  if (run.doc.requests.length === 0) return null;
  const out = el("details", { class: "requests" }, el("summary", {}, `All ${run.doc.requests.length} work requests in words`));
  const fill = () => {
    if (out.querySelector("table")) return;
    out.append(table(null, ["request", "bytes", "what became of it"], run.doc.requests.map((r, i) => [run.name(i), `${r.length} at ${r.offset}`, run.tale(i)])));
  };
  out.addEventListener("toggle", fill);
  addEventListener("beforeprint", fill);
  return out;
}
