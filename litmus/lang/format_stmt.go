package lang

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// StmtText is a statement as a test has it.
func StmtText(s Stmt) string {
	switch s := s.(type) {
	case *Post:
		return s.text()
	case *Recv:
		return s.text()
	case Wait:
		word := "wait"
		if s.Poll {
			word = "poll"
		}
		return set(s.Reg) + word + " " + s.Label
	case Next:
		out := set(s.Reg) + "next " + s.QP
		if s.Recv {
			out += ".recv"
		}
		return out
	case Query:
		return set(s.Reg) + s.What + " " + s.Label
	case If:
		return "if " + CondText(s.Cond) + ": " + StmtText(s.Then)
	case Maybe:
		return "maybe " + StmtText(s.Then)
	case Assume:
		return "assume " + CondText(s.Cond)
	case Stop:
		return "stop"
	}
	if out := cpuText(s); out != "" {
		return out
	}
	return controlText(s)
}

func cpuText(s Stmt) string {
	switch s := s.(type) {
	case Load:
		return set(s.Reg) + "load " + s.Ref.Text()
	case Store:
		return "store " + s.Ref.Text() + " <- " + s.Value.Text()
	case Clwb:
		return "clwb " + s.Ref.Text()
	case Fence:
		return "mfence"
	case CmpXchg:
		return set(s.Reg) + "cmpxchg " + s.Ref.Text() + " " + s.Old.Text() + " " + s.New.Text()
	case Xadd:
		return set(s.Reg) + "xadd " + s.Ref.Text() + " " + s.Add.Text()
	case Until:
		return "until " + s.Ref.Text() + " " + s.Op + " " + s.Value.Text()
	}
	return ""
}

func controlText(s Stmt) string {
	switch s := s.(type) {
	case Tell:
		out := "tell " + s.Host + " " + s.Msg
		if s.Value != nil {
			out += " <- " + s.Value.Text()
		}
		return out
	case Hear:
		return set(s.Reg) + "hear " + s.Msg
	case Fault:
		return s.Kind.String() + " " + strings.Join(s.Hosts, " ")
	case Heal:
		return "heal " + s.A + " " + s.B
	case Modify:
		if s.Access != nil {
			return set(s.Reg) + "access " + s.QP + " " + formatAccess(*s.Access)
		}
		return set(s.Reg) + "modify " + s.QP + " " + s.State.String()
	case StateOf:
		return set(s.Reg) + "state " + s.QP
	case Destroy:
		return "destroy " + s.QP
	case Connect:
		if s.SamePSN {
			return "connect " + s.QP + " samepsn"
		}
		return "connect " + s.QP
	case Dereg:
		return "dereg " + s.Name
	}
	return fmt.Sprintf("%T", s)
}

// set is the left side of an assignment.
func set(regs ...string) string {
	var out []string
	for _, r := range regs {
		if r != "" {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, ", ") + " = "
}

func (s *Post) text() string {
	out := set(s.Value, s.Status)
	if s.Posted != "" {
		out = set(s.Posted) + "post "
	}
	out += OpName(s.Op) + " "
	into := s.Op == verbs.OpRead || s.Op.IsAtomic()
	if into && s.Payload != nil {
		out += listed(s.Payload) + " <- "
	}
	out += s.Remote.Text()
	switch {
	case s.Op == verbs.OpCompareSwap:
		out += " " + s.Compare.Text() + " " + s.Swap.Text()
	case s.Op == verbs.OpFetchAdd:
		out += " " + s.Add.Text()
	case s.Op == verbs.OpFlush:
		if s.Scope != "" {
			out += " " + s.Scope
		}
		if s.WholeMR {
			out += " whole"
		}
	case !into && s.Payload != nil:
		out += " <- " + listed(s.Payload)
	}
	if s.Op == verbs.OpWriteImm || s.Op == verbs.OpSendImm {
		out += " imm=" + Number(uint64(s.Imm))
	}
	for i, name := range []string{"signaled", "fence", "inline", "solicited"} {
		if s.Flags&(1<<i) != 0 {
			out += " " + name
		}
	}
	return out + s.ending()
}

func (s *Post) ending() string {
	out := ""
	if s.Silent {
		out += " unsignaled"
	}
	if s.Unbound {
		out += " unchecked"
	}
	if s.Key != "" {
		out += " key=" + s.Key
	}
	if s.QP != "" {
		out += " on " + s.QP
	}
	if s.Label != "" {
		out += " as " + s.Label
	}
	return out
}

func (s *Recv) text() string {
	out := "recv"
	if s.Posted != "" {
		out = set(s.Posted) + "post recv"
	}
	if len(s.Into) == 1 {
		out += " " + s.Into[0].Text()
	} else if len(s.Into) > 1 {
		var refs []string
		for i := range s.Into {
			refs = append(refs, s.Into[i].Text())
		}
		out += " [" + strings.Join(refs, " ") + "]"
	}
	if s.From != "" {
		out += " from " + s.From
	}
	if s.QP != "" {
		out += " on " + s.QP
	}
	if s.Label != "" {
		out += " as " + s.Label
	}
	return out
}
