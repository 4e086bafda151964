package lang

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// cpu reads what the CPU does to memory, nil if it is something else.
func (p *parser) cpu(word, reg string, pos Pos) Stmt {
	const where = "a location of this host"
	switch word {
	case "load":
		return Load{pos, reg, p.ref(where)}
	case "store":
		s := Store{Pos: pos, Ref: p.ref(where)}
		p.symbol("<-")
		s.Value = p.expr()
		return s
	case "clwb":
		return Clwb{pos, p.ref(where)}
	case "mfence":
		return Fence{pos}
	case "cmpxchg":
		return CmpXchg{pos, reg, p.ref(where), p.expr(), p.expr()}
	case "xadd":
		return Xadd{pos, reg, p.ref(where), p.expr()}
	case "until":
		return Until{pos, p.ref(where), p.comparison(), p.expr()}
	case "assume":
		return Assume{pos, p.cond()}
	case "stop":
		return Stop{pos}
	}
	return nil
}

// control reads the statements about completions, messages, queue pairs and faults.
func (p *parser) control(t token, reg string, pos Pos) Stmt {
	const qp = "a queue pair"
	switch t.text {
	case "recv":
		return p.recv(pos)
	case "wait", "poll":
		return Wait{pos, reg, p.name("the label of a request"), t.text == "poll"}
	case "next":
		s := Next{Pos: pos, Reg: reg, QP: p.name("a queue pair or a completion queue")}
		if p.accept(".") {
			p.word("recv")
			s.Recv = true
		}
		return s
	case "status", "len", "imm", "result":
		return Query{pos, reg, t.text, p.name("the label of a request")}
	case "tell":
		s := Tell{Pos: pos, Host: p.name("a host"), Msg: p.name("the name of a message")}
		if p.accept("<-") {
			e := p.expr()
			s.Value = &e
		}
		return s
	case "hear":
		return Hear{pos, reg, p.name("the name of a message")}
	case "heal":
		return Heal{pos, p.name("a host"), p.name("a host")}
	case "modify":
		return Modify{Pos: pos, Reg: reg, QP: p.name(qp), State: p.state()}
	case "access":
		return Modify{Pos: pos, Reg: reg, QP: p.name(qp), Access: p.access()}
	case "state":
		return StateOf{pos, reg, p.name(qp)}
	case "destroy":
		return Destroy{pos, p.name(qp)}
	case "connect":
		return Connect{pos, p.name(qp), p.accept("samepsn")}
	case "dereg":
		return Dereg{pos, p.name("an mr, or a location")}
	}
	if k, err := faults.ParseKind(t.text); err == nil {
		if reg != "" {
			p.failAt(t, t.text+" sets no register", "")
		}
		s := Fault{Pos: pos, Kind: k}
		for range k.Arity() {
			s.Hosts = append(s.Hosts, p.name("a host"))
		}
		return s
	}
	return nil
}

// ResultNames are the results of posts and state changes.
var ResultNames = []string{"OK", "FULL", "INVALID", "STATE", "UNSUPPORTED", "CLOSED", "BUSY", "ERROR"}

// StateNames are the names of the states of a queue pair.
func StateNames() []string {
	var out []string
	for s := verbs.StateReset; s <= verbs.StateErr; s++ {
		out = append(out, s.String())
	}
	return out
}

func (p *parser) state() verbs.QPState {
	t := p.next()
	i := slices.Index(StateNames(), t.text)
	if i < 0 {
		p.failAt(t, fmt.Sprintf("expected a state (%s), found %v", mistake.OneOf(StateNames()), t), mistake.Suggest(t.text, StateNames()))
	}
	return verbs.QPState(i)
}
