// Memory as strips: a strip of cells for each region. The cells show the selected row.

import { el } from "./dom";
import { asText, CellState, Line, regionName, Run, valueText } from "./run";

const maxCells = 32;

// strips shows memory after a row: regions that requests name, and persistent regions.
export function strips(run: Run, l: Line): HTMLElement[] {
  const remote = new Set(run.doc.requests.map((r) => r.region));
  const out: HTMLElement[] = [];
  run.doc.regions.forEach((r, i) => {
    if (!remote.has(i) && r.name === "") return;
    if (r.born > l.point || (r.gone >= 0 && r.gone <= l.point)) return;
    const cells = run.memory(i, l);
    const list = el("ol", { class: "strip" }, ...cells.slice(0, maxCells).map((c) => cell(run, c)));
    if (cells.length === 0) list.append(el("li", { class: "none" }, "never written in this run"));
    if (cells.length > maxCells) list.append(el("li", { class: "none" }, `and ${cells.length - maxCells} more`));
    out.push(el("h3", {}, regionName(run.doc, r)), list);
  });
  return out;
}

function cell(run: Run, c: CellState): HTMLElement {
  const flying = c.coming.length > 0;
  const names = ["cell", c.fresh ? "fresh" : "", c.read ? "read" : "", c.there >= 0 || c.missing >= 0 ? "torn" : "", flying ? "coming" : "", c.doubt ? "doubt" : ""];
  const marks = [c.fresh ? "◆" : "", c.read ? "◉" : "", c.there >= 0 ? "◣" : "", c.missing >= 0 ? "◢" : "", c.doubt ? "~" : ""].join("");
  const out = el("li", { class: names.filter((x) => x !== "").join(" ") }, el("span", { class: "at" }, `${c.offset} ${marks}`), el("code", {}, content(c.bytes)));
  for (const q of c.coming.slice(0, 2)) out.append(el("code", { class: "flying" }, `→#${run.doc.requests[q.request].number} ${content(q.bytes)}`));
  return out;
}

// content formats the bytes of a cell: as text if all are printable, and otherwise in hexadecimal.
function content(bytes: number[]): string {
  return bytes.every((b) => b > 32 && b < 127) ? asText(bytes) : valueText(bytes).replace(/^0x/, "");
}
