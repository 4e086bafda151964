package lang

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Pos is a place in a file: both count from 1, and 0 is nowhere.
type Pos struct{ Line, Col int }

// Test is one litmus test: a file.
type Test struct {
	File     string // as errors name it
	Name     string
	Doc      string
	Source   string   // what the verdicts are founded on
	Rules    []string // identifiers of the rules that it is about
	Profiles []string // what it is restricted to; empty: all named profiles
	Faults   string   // the budget of faults that may happen anywhere
	Hosts    []string
	Memory   []Memory
	MRs      []MR
	CQs      []CQ
	QPs      []QP
	Show     []Term // what final states hold besides what the outcomes name
	Threads  []Thread
	Outcomes []Outcome
	text     string // as it was read
}

// OutcomeName is how reports call the i-th outcome.
func (t *Test) OutcomeName(i int) string {
	if n := t.Outcomes[i].Name; n != "" {
		return n
	}
	if len(t.Outcomes) == 1 {
		return "exists"
	}
	return fmt.Sprintf("exists-%d", i+1)
}

// Text is the test as it was read, or in canonical form if it was made otherwise.
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

// Block is memory that is allocated and registered together, at an address that
// 128 divides.
type Block struct {
	Locs []Loc
}

// Loc is a named part of a block.
type Loc struct {
	Pos  Pos
	Name string
	Size int    // in bytes; 0: 8
	At   int    // offset in the block, -1: after the one before, aligned to 8
	Init uint64 // of every word
}

// MR is a registration besides the one that each block has.
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
	Name    string // empty: only the hosts name it
	A, B    string
	Options []Option
}

// Option is one property of a QP, of both ends or of one.
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
	Recover bool // it runs after each restart of the host
	Body    []Stmt
}

// Ref names memory: a location, or bytes of one.
type Ref struct {
	Pos  Pos
	Host string // empty: the context says which
	Name string
	Part bool // Off and Len are given
	Off  int
	Len  int // 0: 8, or as much as is there
}

// Expr is a number, a register, or the sum of both.
type Expr struct {
	Pos   Pos
	Reg   string
	Const uint64
}

// Operand is where the payload of a message comes from: memory, or a value which
// is then in a private place that nobody changes.
type Operand struct {
	Ref  *Ref  // a location, or a register: a bare name can be either
	Expr *Expr // if Ref is nil
}

// Stmt is a statement.
type Stmt interface {
	// At is where it stands.
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
	// Payload is the scatter/gather list: sources of a Write or Send, targets of
	// a Read. HasPayload tells an empty one from none.
	Payload []Operand
	Compare Expr // of a CompareSwap
	Swap    Expr
	Add     Expr // of a FetchAdd
	Flags   verbs.SendFlags
	Silent  bool   // not signaled although it has a label
	Imm     uint32 // with an immediate
	Scope   string // of a Flush: "global", "persistent", "both", or empty: persistent
	WholeMR bool   // of a Flush: all of the memory region
	Key     string // which MR's key; empty: the block's; "bad": no key at all
	Unbound bool   // its range is not checked
	QP      string // empty: the only one
	Label   string
	Posted  string // register for the result of the post itself
	Value   string // register for the value: the thread waits for the completion
	Status  string // register for its status: likewise
}

// Recv posts a receive work request.
type Recv struct {
	Pos
	Into   []Ref
	From   string // host; empty if QP says it or there is only one
	QP     string
	Label  string
	Posted string
}

// Wait waits for the completion of a label; Poll looks once.
type Wait struct {
	Pos
	Reg   string // of its status; may be empty
	Label string
	Poll  bool
}

// Next waits for whatever completion comes next.
type Next struct {
	Pos
	Reg  string // of its label
	QP   string // or CQ
	Recv bool   // of the receive queue
}

// Query asks what is known of a label: status, len, imm, result.
type Query struct {
	Pos
	Reg, What, Label string
}

// Load, Store and the others are what the CPU does to memory.
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

// Clwb writes the cache lines of Ref back.
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

// Assume leaves out the runs in which Cond does not hold.
type Assume struct {
	Pos
	Cond Cond
}

// If makes a statement depend on registers of the thread.
type If struct {
	Pos
	Cond Cond
	Then Stmt
}

// Maybe makes a statement happen or not.
type Maybe struct {
	Pos
	Then Stmt
}

// Stop ends the thread.
type Stop struct{ Pos }

// Tell sends a message out of band; Hear waits for it.
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

// Heal makes a link work again.
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

// StateOf asks for the state of a QP.
type StateOf struct {
	Pos
	Reg, QP string
}

// Destroy destroys the thread's end of a QP; Connect makes it anew, together with
// the other end.
type Destroy struct {
	Pos
	QP string
}

// Connect makes the thread's end of a QP anew.
type Connect struct {
	Pos
	QP      string
	SamePSN bool
}

// Dereg ends a registration: of a block, named by a location, or an MR.
type Dereg struct {
	Pos
	Name string
}

// Outcome is a question and its answers.
type Outcome struct {
	Pos      Pos
	Name     string // as written, may be empty
	Cond     Cond
	Verdicts []Verdict
}

// Verdict is the answer under one profile.
type Verdict struct {
	Pos     Pos
	Profile string // "*": all that no other line names
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

// Is asks something of a thread (blocked, done) or of a term (mixed, unset).
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
