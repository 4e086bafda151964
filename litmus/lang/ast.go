package lang

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Pos is a position in a file, counted from 1; 0 is nowhere.
type Pos struct{ Line, Col int }

// Test is one litmus test: a file.
type Test struct {
	File     string // as errors name it
	Name     string
	Doc      string
	Source   string   // the sources of the verdicts
	Rules    []string // identifiers of the rules that it tests
	Profiles []string // the profiles it is restricted to; empty: all named ones
	Faults   string   // the budget of faults, which may strike anywhere
	Hosts    []string
	Memory   []Memory
	MRs      []MR
	CQs      []CQ
	QPs      []QP
	Show     []Term // parts of final states that the outcomes do not name
	Threads  []Thread
	Outcomes []Outcome
	text     string // its original text
}

// OutcomeName is the name of the i-th outcome in reports.
func (t *Test) OutcomeName(i int) string {
	if n := t.Outcomes[i].Name; n != "" {
		return n
	}
	if len(t.Outcomes) == 1 {
		return "exists"
	}
	return fmt.Sprintf("exists-%d", i+1)
}

// WithFaults is the test with another budget of faults.
func (t *Test) WithFaults(budget string) *Test {
	c := *t
	c.Faults, c.text = budget, ""
	return &c
}

// Text is the original text of the test, or its canonical form if it was not parsed.
func (t *Test) Text() string {
	if t.text != "" {
		return t.text
	}
	return Format(t)
}

// Memory is a line of locations of one host with the same properties.
type Memory struct {
	Pos        Pos
	Persistent bool
	Host       string
	Access     *verbs.Access // what the card may do there; nil: everything
	Blocks     []Block
}

// Block is memory that is allocated and registered as a unit, at an address divisible
// by 128.
type Block struct {
	Locs []Loc
}

// Loc is a named part of a block.
type Loc struct {
	Pos  Pos
	Name string
	Size int    // in bytes; 0: 8
	At   int    // offset in the block, -1: after the previous one, aligned to 8
	Init uint64 // of every word
}

// MR is a registration in addition to that of each block.
type MR struct {
	Pos    Pos
	Name   string
	Host   string
	Loc    string // it covers the block of this location
	Access *verbs.Access
}

// CQ is a completion queue that several queues share.
type CQ struct {
	Pos  Pos
	Name string
	Host string
}

// QP is a connection between two hosts.
type QP struct {
	Pos     Pos
	Name    string // empty: identified by its hosts
	A, B    string
	Options []Option
}

// Option is a property of a QP, for both ends or for one.
type Option struct {
	Pos   Pos
	Host  string // empty: both ends
	Key   string
	Value string
}

// Thread is the program of one CPU of a host.
type Thread struct {
	Pos     Pos
	Name    string
	Host    string
	Recover bool // runs after each restart of the host
	Body    []Stmt
}

// Ref names memory: a location, or bytes of one.
type Ref struct {
	Pos  Pos
	Host string // empty: given by the context
	Name string
	Part bool // Off and Len are given
	Off  int
	Len  int // 0: 8, or all that is there
}

// Expr is a number, a register, or the sum of both.
type Expr struct {
	Pos   Pos
	Reg   string
	Const uint64
}

// Operand is the source of a message's payload: memory, or a value, which is placed in
// private memory that nothing changes.
type Operand struct {
	Ref  *Ref  // a location, or a register: a bare name can be either
	Expr *Expr // if Ref is nil
}

// Stmt is a statement.
type Stmt interface {
	// At returns its position.
	At() Pos
}

// At makes every struct that embeds a Pos a statement.
func (p Pos) At() Pos { return p }

// Post posts a send work request.
type Post struct {
	Pos
	Op verbs.Opcode
	// Remote is the remote memory, or only a host for a Send.
	Remote Ref
	// Payload is the scatter/gather list: sources of a Write or Send, targets of a
	// Read. HasPayload distinguishes an empty one from none.
	Payload []Operand
	Compare Expr // of a CompareSwap
	Swap    Expr
	Add     Expr // of a FetchAdd
	Flags   verbs.SendFlags
	Silent  bool   // not signaled although it has a label
	Imm     uint32 // with an immediate
	Scope   string // of a Flush: "global", "persistent", "both", or empty: persistent
	WholeMR bool   // of a Flush: all of the memory region
	Key     string // the MR of the key; empty: the block's; "bad": an invalid key
	Unbound bool   // its range is not checked
	QP      string // empty: the only one
	Label   string
	Posted  string // register for the result of the post
	Value   string // register for the value; the thread waits for the completion
	Status  string // register for its status: likewise
}

// Recv posts a receive work request.
type Recv struct {
	Pos
	Into   []Ref
	From   string // host; empty if QP implies it or there is only one
	QP     string
	Label  string
	Posted string
}

// Wait waits for the completion of a label; Poll polls once.
type Wait struct {
	Pos
	Reg   string // of its status; may be empty
	Label string
	Poll  bool
}

// Next waits for the next completion.
type Next struct {
	Pos
	Reg  string // of its label
	QP   string // or CQ
	Recv bool   // of the receive queue
}

// Query reads a property of a completed label: status, len, imm, result.
type Query struct {
	Pos
	Reg, What, Label string
}

// Load, Store and the following are memory operations of the CPU.
type Load struct {
	Pos
	Reg string
	Ref Ref
}

// Store stores a value into all of Ref.
type Store struct {
	Pos
	Ref   Ref
	Value Expr
}

// Clwb writes back the cache lines of Ref.
type Clwb struct {
	Pos
	Ref Ref
}

// Fence drains the store buffer and waits for write-backs.
type Fence struct{ Pos }

// CmpXchg and Xadd are the locked instructions.
type CmpXchg struct {
	Pos
	Reg      string // 1 if it exchanged
	Ref      Ref
	Old, New Expr
}

// Xadd adds.
type Xadd struct {
	Pos
	Reg string // the old value
	Ref Ref
	Add Expr
}

// Until is a loop that waits for memory to hold a value.
type Until struct {
	Pos
	Ref   Ref
	Op    string
	Value Expr
}

// Assume excludes the runs in which Cond does not hold.
type Assume struct {
	Pos
	Cond Cond
}

// If executes a statement depending on registers of the thread.
type If struct {
	Pos
	Cond Cond
	Then Stmt
}

// Maybe executes a statement or not.
type Maybe struct {
	Pos
	Then Stmt
}

// Stop ends the thread.
type Stop struct{ Pos }

// Tell sends an out-of-band message; Hear waits for it.
type Tell struct {
	Pos
	Host, Msg string
	Value     *Expr
}

// Hear waits for a message.
type Hear struct {
	Pos
	Reg, Msg string
}

// Fault makes a fault happen here.
type Fault struct {
	Pos
	Kind  faults.Kind
	Hosts []string
}

// Heal restores a link.
type Heal struct {
	Pos
	A, B string
}

// Modify changes the state of the thread's end of a QP, or its access flags.
type Modify struct {
	Pos
	Reg    string // of the result
	QP     string
	State  verbs.QPState
	Access *verbs.Access // if not nil, the state stays
}

// StateOf reads the state of a QP.
type StateOf struct {
	Pos
	Reg, QP string
}

// Destroy destroys the thread's end of a QP; Connect creates it again, together with
// the other end.
type Destroy struct {
	Pos
	QP string
}

// Connect creates the thread's end of a QP again.
type Connect struct {
	Pos
	QP      string
	SamePSN bool
}

// Dereg deregisters a block, named by a location, or an MR.
type Dereg struct {
	Pos
	Name string
}

// Outcome is a question with its answers.
type Outcome struct {
	Pos      Pos
	Name     string // as written, may be empty
	Cond     Cond
	Verdicts []Verdict
}

// Verdict is the answer for one profile.
type Verdict struct {
	Pos     Pos
	Profile string // "*": all without a line of their own
	Reached bool   // Y
	Why     string // the comment on its line
}

// Cond is a condition: And, Or, Not, Compare or Is.
type Cond interface{ cond() }

// And holds if both do, Or if one does, Not if its operand does not.
type And struct{ L, R Cond }

// Or holds if one does.
type Or struct{ L, R Cond }

// Not negates.
type Not struct{ X Cond }

// Compare compares two terms.
type Compare struct {
	L  Term
	Op string
	R  Term
}

// Is tests a thread (blocked, done) or a term (mixed, unset).
type Is struct {
	Pos  Pos
	What string
	Term Term // a thread is a term with only a Name
}

func (And) cond()     {}
func (Or) cond()      {}
func (Not) cond()     {}
func (Compare) cond() {}
func (Is) cond()      {}

// Term is a register, final memory, a number or the name of a constant.
type Term struct {
	Pos    Pos
	Thread string // of a register, may be empty
	Host   string // of memory
	Name   string // register, location, constant; empty: a number
	Num    uint64
	Part   bool
	Off    int
	Len    int
}
