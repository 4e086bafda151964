// The choices of a run that is made by hand.

import { Hand, Link } from "./document";
import { el, table } from "./dom";

const kinds: Record<string, string> = {
  completion: "which completion came. What if it came later, and another first?", landing: "what a look at memory found", order: "what came before", fetch: "whether the card had fetched",
  message: "which message arrived", rand: "which number was drawn", cutoff: "how far a queue got", persist: "what survived the power failure",
  end: "whether the run ended", media: "which bytes are damaged", timer: "which timer the fault struck",
  clock: "what the clock showed",
};

// hand shows what can happen next, and what else could have in the last step.
export function hand(h: Hand): HTMLElement {
  const out = el("section", { class: "hand", "aria-labelledby": "hand-title" }, el("h2", { id: "hand-title" }, "By hand"));
  if (h.said !== "") out.append(el("p", { class: "remark", role: "status" }, h.said));
  const ways = el("p", {}, link({ text: "from the start", href: h.start, fault: false, taken: false }));
  if (h.back !== "") ways.append(" ", link({ text: "one step back", href: h.back, fault: false, taken: false }, "back"));
  if (h.search !== "") ways.append(" ", link({ text: "let the checker search from here", href: h.search, fault: false, taken: false }, "search"));
  out.append(ways);
  if (h.next.length === 0) out.append(el("p", {}, "The run has ended: nothing comes next."), ...end(h));
  else out.append(list("What happens next?", h.next, "next"));
  for (const f of h.inside) out.append(list(`In the last step: ${Object.prototype.hasOwnProperty.call(kinds, f.kind) ? kinds[f.kind] : f.kind}`, f.ways, "inside"));
  return out;
}

// end tells what a run that has ended came to.
function end(h: Hand): HTMLElement[] {
  const out: HTMLElement[] = [];
  if (h.final !== "") out.push(el("p", { class: "final" }, "It ends in ", el("code", {}, h.final), "."));
  if (h.outcomes.length === 0) return out;
  const rows = h.outcomes.map((o) => [o.name, el("code", {}, o.cond), o.met ? el("b", {}, "✓ met") : "– not met", o.expected]);
  out.push(table("What the test asks for", ["outcome", "condition", "this run", "the test says"], rows, "outcomes"));
  return out;
}

// otherwise leads back to the steps of a row, where what they did can be chosen anew.
export function otherwise(h: Hand, steps: number[], completions: Map<number, string>): HTMLElement {
  const out = el("div", { class: "otherwise" });
  for (const s of steps.slice(0, maxSteps)) {
    const what = completions.get(s);
    const text = what === undefined ? `What if step ${s} went otherwise?` : `What if ${what} in step ${s} came later?`;
    out.append(el("p", {}, link({ text, href: `${h.here}&steps=${s}`, fault: false, taken: false })));
  }
  return out;
}

const maxSteps = 6;

function list(title: string, links: Link[], cls: string): HTMLElement {
  return el("div", { class: cls }, el("h3", {}, title), el("ul", {}, ...links.map((l) => el("li", {}, link(l), l.fault ? " (a fault)" : null, l.taken ? " (taken)" : null))));
}

// link leads to another page of the same server, and nowhere else.
function link(l: Link, cls = ""): HTMLAnchorElement {
  const a = el("a", cls === "" ? {} : { class: cls }, l.text);
  if (l.href.startsWith("?")) a.href = l.href;
  if (l.taken) a.setAttribute("aria-current", "true");
  return a;
}
