// The choices of a run that is made by hand.

import { Branch, Hand, Link } from "./document";
import { button, el, table } from "./dom";

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
  const ways = el("p", { class: "ways" }, way("from the start", h.start));
  if (h.back !== "") ways.append(" ", way("one step back", h.back, "back"));
  if (h.choice !== "") ways.append(" ", way("go to the next choice that matters", h.choice, "choice"), " ", ...onwards(h.on));
  if (h.search !== "") ways.append(" ", way("let the checker search from here", h.search, "search"));
  out.append(ways);
  if (h.next.length === 0) out.append(el("p", {}, "The run has ended: nothing comes next."), ...end(h));
  else out.append(list("What happens next?", h.next, "next"));
  for (const f of h.inside) out.append(list(`In the last step: ${Object.prototype.hasOwnProperty.call(kinds, f.kind) ? kinds[f.kind] : f.kind}`, f.ways, "inside"));
  if (h.tried.length > 1) out.append(el("details", { open: "", class: "tried" }, el("summary", {}, `Runs tried: ${h.tried.length}`), tree(h.tried)));
  return out;
}

const usualSteps = 10;

// onwards makes a field for a number of steps, and a button that continues the run by that number.
function onwards(to: string): HTMLElement[] {
  const n = el("input", { type: "number", min: "1", max: "1000", value: String(usualSteps), "aria-label": "steps", class: "steps" });
  const go = button("more steps", () => n.reportValidity() && location.assign(to + n.value), { class: "on" });
  n.addEventListener("keydown", (e) => {
    e.stopPropagation(); // or the page would take the key for one of its own
    if (e.key === "Enter") go.click();
  });
  return [n, go];
}

// tree shows runs as a nested list: each run is inside the run that it branches off.
function tree(all: Branch[]): HTMLElement {
  const root = el("ul");
  const open: HTMLElement[] = [root];
  for (const b of all) {
    open.length = Math.min(open.length, b.depth + 1);
    const item = el("li", {}, b.here ? el("b", {}, link({ text: b.text, does: "", href: b.href, fault: false, taken: true })) : way(b.text, b.href), b.here ? " (here)" : null);
    const inner = el("ul");
    item.append(inner);
    open[open.length - 1].append(item);
    open.push(inner);
  }
  root.querySelectorAll("ul:empty").forEach((u) => u.remove());
  return root;
}

// end shows the final state of a run that has ended, and which outcomes of the test it meets.
function end(h: Hand): HTMLElement[] {
  const out: HTMLElement[] = [];
  if (h.final !== "") out.push(el("p", { class: "final" }, "It ends in ", el("code", {}, h.final), "."));
  if (h.outcomes.length === 0) return out;
  const rows = h.outcomes.map((o) => [o.name, el("code", {}, o.cond), o.met ? el("b", {}, "✓ met") : "– not met", o.expected]);
  out.push(table("What the test asks for", ["outcome", "condition", "this run", "the test says"], rows, "outcomes"));
  return out;
}

// otherwise links back to the steps of a row, where the user can make another choice.
export function otherwise(h: Hand, steps: number[], completions: Map<number, string>): HTMLElement {
  const out = el("div", { class: "otherwise" });
  for (const s of steps.slice(0, maxSteps)) {
    const what = completions.get(s);
    const text = what === undefined ? `What if step ${s} went otherwise?` : `What if ${what} in step ${s} came later?`;
    out.append(el("p", {}, way(text, `${h.here}&steps=${s}`)));
  }
  return out;
}

const maxSteps = 6;

function list(title: string, links: Link[], cls: string): HTMLElement {
  return el("div", { class: cls }, el("h3", {}, title), el("ul", {}, ...links.map((l) => el("li", {}, link(l), l.does === "" ? null : el("span", { class: "does" }, l.does), l.fault ? " (a fault)" : null, l.taken ? " (taken)" : null))));
}

function way(text: string, href: string, cls = ""): HTMLAnchorElement {
  return link({ text, does: "", href, fault: false, taken: false }, cls);
}

// link leads to another page of the same server, and nowhere else.
function link(l: Link, cls = ""): HTMLAnchorElement {
  const a = el("a", cls === "" ? {} : { class: cls }, l.text);
  if (l.href.startsWith("?")) a.href = l.href;
  if (l.taken) a.setAttribute("aria-current", "true");
  return a;
}
