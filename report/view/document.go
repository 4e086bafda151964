package view

// Version is the version of the document's form. It grows with each change that
// an older front end would display wrongly.
const Version = 1

// Document is one run, for a front end. References between its parts are indices;
// -1 is none. The index of an event may be one past the last event:
// what has it happened after all events.
type Document struct {
	Version    int         `json:"version"`
	Scenario   string      `json:"scenario"`
	Note       string      `json:"note"`   // by the author of the page
	Doc        string      `json:"doc"`    // what is checked
	Bounds     string      `json:"bounds"` // in words
	Profile    string      `json:"profile"`
	Faults     string      `json:"faults"`
	Timers     string      `json:"timers"` // when they could fire, in words
	Strengthen string      `json:"strengthen,omitempty"`
	Outcome    string      `json:"outcome"` // what replay reports about the run
	Command    string      `json:"command"` // that shows the same in a terminal
	Violation  *Violation  `json:"violation"`
	Hosts      []string    `json:"hosts"`
	Events     []Event     `json:"events"`
	Rows       []Row       `json:"rows"` // folded, as replay prints them
	LeftOut    int         `json:"leftOut"`
	Requests   []Request   `json:"requests"`
	Pieces     []Piece     `json:"pieces"`
	Regions    []Region    `json:"regions"`
	Changes    []Change    `json:"changes"`
	Looks      []Span      `json:"looks"`
	Doubts     []Doubt     `json:"doubts"`
	Operations []Operation `json:"operations"`
	Story      []Sentence  `json:"story"` // from package story; empty if the caller has not added it
	Decisions  []Decision  `json:"decisions"`
	Sources    []Source    `json:"sources"`
	Hand       *Hand       `json:"hand"` // where the run is made by hand; nil elsewhere
}

// Hand is what a run by hand can do next, as links to other pages of the same server.
// Their targets begin with a question mark.
type Hand struct {
	Start  string `json:"start"`
	Here   string `json:"here"`   // this run; with &steps=N after it, its first N steps
	Back   string `json:"back"`   // one step less; empty at the start
	Search string `json:"search"` // for a violation from here; empty where nothing follows
	On     string `json:"on"`     // with a number after it, continues by that number of steps; empty where nothing follows
	Choice string `json:"choice"` // continues to the next step with a choice inside; empty where nothing follows
	Said   string `json:"said"`   // what a search found
	Next   []Link `json:"next"`
	Inside []Fork `json:"inside"`
	// Tried is a tree of the runs that this server has made, as a list: a branch follows the run that it leaves.
	Tried []Branch `json:"tried"`
	// Final is the scenario's name for the end of the run, if the run has ended and
	// the end has a name. Outcomes are the outcomes that a litmus test asks for.
	Final    string    `json:"final"`
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome is an outcome that a litmus test asks for, and whether the run ends in it.
type Outcome struct {
	Name     string `json:"name"`
	Cond     string `json:"cond"`
	Met      bool   `json:"met"`
	Expected string `json:"expected"` // the test's verdict on it, in words
}

// Fork is a choice inside the last step, with a link for each way that there was.
type Fork struct {
	Kind string `json:"kind"`
	Ways []Link `json:"ways"`
}

// Branch is a run that was made by hand, and its place in the tree of these runs.
type Branch struct {
	Depth int    `json:"depth"` // 0 is the default run
	Text  string `json:"text"`
	Href  string `json:"href"`
	Here  bool   `json:"here"` // the page shows this run
}

// Link is one thing that can happen, or could have happened. Does describes its effect.
type Link struct {
	Text  string `json:"text"`
	Does  string `json:"does"`
	Href  string `json:"href"`
	Fault bool   `json:"fault"`
	Taken bool   `json:"taken"`
}

// Violation is the promise that is not kept, or for a litmus test the outcome that
// is reached.
type Violation struct {
	Class   string `json:"class"`
	Message string `json:"message"`
	Litmus  bool   `json:"litmus"`
	Step    int    `json:"step"` // at which the check noticed
	Source  int    `json:"source"`
	// LastChance is the last step after which a run that keeps the promise continues
	// from here, -1 if none was found; nil: not searched. Tried is the number of ways to
	// continue that were tried after each later step, and TriedFrom the first such step.
	LastChance *int `json:"lastChance"`
	Tried      int  `json:"tried"`
	TriedFrom  int  `json:"triedFrom"`
}

// Event is one thing that happened at a host.
type Event struct {
	Step    int    `json:"step"`
	Host    int    `json:"host"`
	Life    int    `json:"life"`
	Peer    int    `json:"peer"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
	Cell    string `json:"cell"` // as replay --all prints it; empty if it prints nothing
	Marked  bool   `json:"marked,omitempty"`
	Source  int    `json:"source"`
	Request int    `json:"request"`
}

// Row is a row of the folded timeline.
type Row struct {
	Step    int        `json:"step"`
	Last    int        `json:"last"`
	Marked  bool       `json:"marked,omitempty"`
	Cells   [][]string `json:"cells"`
	Sources []string   `json:"sources"`
	Events  []int      `json:"events"`
}

// Request is a work request.
type Request struct {
	QP       string `json:"qp"`
	Number   int    `json:"number"`
	Op       string `json:"op"`
	Host     int    `json:"host"`
	Peer     int    `json:"peer"`
	Region   int    `json:"region"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	Payload  string `json:"payload"` // in hexadecimal, of a Write, when it was posted
	Posted   int    `json:"posted"`
	Done     int    `json:"done"` // the completion that reported it
	Status   string `json:"status"`
	Signaled bool   `json:"signaled"`
}

// Piece is a part of a request: landed, sampled, dropped, or gone with its memory.
type Piece struct {
	Span
	Request int    `json:"request"`
	Fate    string `json:"fate"`
}

// Span is some bytes of a region and the event that concerns them.
type Span struct {
	Event  int `json:"event"`
	Region int `json:"region"`
	Offset int `json:"offset"`
	Length int `json:"length"`
}

// Region is memory of a host.
type Region struct {
	Host   int    `json:"host"`
	Life   int    `json:"life"`
	Number int    `json:"number"`
	Size   int    `json:"size"`
	Name   string `json:"name"` // of persistent memory; empty: DRAM
	Born   int    `json:"born"`
	Gone   int    `json:"gone"`
}

// Change is new content of some bytes, in hexadecimal. Request brought it, or a CPU
// or the response to a Read if it is -1.
type Change struct {
	Event   int    `json:"event"`
	Region  int    `json:"region"`
	Offset  int    `json:"offset"`
	Data    string `json:"data"`
	Request int    `json:"request"`
}

// Doubt begins or ends a period in which a power failure might not preserve bytes of
// persistent memory as they are.
type Doubt struct {
	Span
	Open bool `json:"open"`
}

// Operation is an operation of a client.
type Operation struct {
	Client string `json:"client"`
	Call   string `json:"call"`
	Result string `json:"result"`
	Begin  int    `json:"begin"` // steps
	End    int    `json:"end"`   // -1: no result came
}

// Sentence is one thing that happened, in words. The key sentences alone show what went wrong.
type Sentence struct {
	Step int    `json:"step"`
	Text string `json:"text"`
	Key  bool   `json:"key,omitempty"`
}

// Decision is a choice at which the run left the default.
type Decision struct {
	Step int    `json:"step"`
	At   string `json:"at"`
	Take string `json:"take"`
}

// Source is a line of the protocol and some around it, if its file could be read.
type Source struct {
	Name  string   `json:"name"` // file:line
	Line  int      `json:"line"`
	First int      `json:"first"`
	Lines []string `json:"lines"`
}
