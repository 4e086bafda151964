// The document, as report/view/document.go has it; a Go test holds the two against each other.

export interface Document {
  version: number;
  scenario: string;
  note: string;
  doc: string;
  bounds: string;
  profile: string;
  faults: string;
  timers: string;
  strengthen?: string;
  outcome: string;
  command: string;
  violation: Violation | null;
  hosts: string[];
  events: Event[];
  rows: Row[];
  leftOut: number;
  requests: Request[];
  pieces: Piece[];
  regions: Region[];
  changes: Change[];
  looks: Span[];
  doubts: Doubt[];
  operations: Operation[];
  story: Sentence[];
  decisions: Decision[];
  sources: Source[];
  hand: Hand | null;
}

export interface Hand {
  start: string;
  here: string;
  back: string;
  search: string;
  on: string;
  choice: string;
  said: string;
  next: Link[];
  inside: Fork[];
  tried: Branch[];
  final: string;
  outcomes: Outcome[];
}

export interface Outcome {
  name: string;
  cond: string;
  met: boolean;
  expected: string;
}

export interface Fork {
  kind: string;
  ways: Link[];
}

export interface Branch {
  depth: number;
  text: string;
  href: string;
  here: boolean;
}

export interface Link {
  text: string;
  does: string;
  href: string;
  fault: boolean;
  taken: boolean;
}

export interface Violation {
  class: string;
  message: string;
  litmus: boolean;
  step: number;
  source: number;
  lastChance: number | null;
  tried: number;
  triedFrom: number;
}

export interface Event {
  step: number;
  host: number;
  life: number;
  peer: number;
  kind: string;
  text: string;
  cell: string;
  marked?: boolean;
  source: number;
  request: number;
}

export interface Row {
  step: number;
  last: number;
  marked?: boolean;
  cells: string[][];
  sources: string[];
  events: number[];
}

export interface Request {
  qp: string;
  number: number;
  op: string;
  host: number;
  peer: number;
  region: number;
  offset: number;
  length: number;
  payload: string;
  posted: number;
  done: number;
  status: string;
  signaled: boolean;
}

export interface Span {
  event: number;
  region: number;
  offset: number;
  length: number;
}

export interface Piece extends Span {
  request: number;
  fate: string;
}

export interface Region {
  host: number;
  life: number;
  number: number;
  size: number;
  name: string;
  born: number;
  gone: number;
}

export interface Change {
  event: number;
  region: number;
  offset: number;
  data: string;
  request: number;
}

export interface Doubt extends Span {
  open: boolean;
}

export interface Operation {
  client: string;
  call: string;
  result: string;
  begin: number;
  end: number;
}

export interface Sentence {
  step: number;
  text: string;
  key?: boolean;
}

export interface Decision {
  step: number;
  at: string;
  take: string;
}

export interface Source {
  name: string;
  line: number;
  first: number;
  lines: string[];
}
