// Decisions in words. Files have names for them that do not change when the code is edited.

import { Decision, Document } from "./document";

const faults: Record<string, string> = {
  crash: "crashes", power: "loses power", restart: "starts again", suspect: "is believed dead", revoke: "has its registrations revoked",
};

// decisionText describes what a decision chose.
export function decisionText(doc: Document, x: Decision): string {
  const inside = /^(.*)@\d+\/([a-z]+)#\d+$/.exec(x.at);
  if (inside === null) return nextText(x.at, x.take);
  const who = actor(inside[1]);
  switch (inside[2]) {
    case "landing":
      return x.take === "memory" || x.take === "none" ? `${who} finds what was there before` : `${who} finds ${piece(x.take)} in memory`;
    case "completion":
      return completion(doc, x, who);
    case "order":
      return x.take === "nothing before" ? "nothing lands before it" : `${piece(x.take.replace(/ before$/, ""))} lands first`;
    case "message":
      return `${who} gets messages in this order: ${x.take}`;
    case "persist":
      return `after the power failure: ${x.take}`;
  }
  return `${who}: ${x.take} (${inside[2]})`;
}

// nextText describes a choice of the next step.
function nextText(at: string, take: string): string {
  const link = /^(partition|heal)\((.+),(.+)\)$/.exec(take);
  if (link !== null) return `the link between ${link[2]} and ${link[3]} ${link[1] === "heal" ? "heals" : "is cut"}`;
  const fault = /^([a-z]+)\((.*)\)$/.exec(take);
  if (fault !== null) return Object.prototype.hasOwnProperty.call(faults, fault[1]) ? `${fault[2]} ${faults[fault[1]]}` : take;
  return `${actor(take)} runs, before ${actor(at.replace(/@\d+$/, ""))}`;
}

// completion names the request that a host saw complete. The decision itself names only the queue pair.
function completion(doc: Document, x: Decision, who: string): string {
  const e = doc.events.find((e) => e.step === x.step && e.kind === "completion" && e.request >= 0 && doc.requests[e.request].qp === x.take);
  if (e === undefined) return `${who} sees a completion of ${x.take} next`;
  const r = doc.requests[e.request];
  return `${doc.hosts[r.host]} sees the completion of ${r.op} #${r.number} to ${doc.hosts[r.peer]} next`;
}

// actor names a task. The task main has the name of its host.
function actor(name: string): string {
  const m = /^(.+)\.\d+\/(.+)$/.exec(name);
  if (m === null) return name;
  return m[2] === "main" ? m[1] : `“${m[2]}” of ${m[1]}`;
}

// piece describes a piece of a request, such as app→peer2#3.0.
function piece(name: string): string {
  const m = /^(.+)→(.+)#(\d+)\.\d+$/.exec(name);
  return m === null ? name : `request #${m[3]} of ${m[1]} to ${m[2]}`;
}
