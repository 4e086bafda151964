package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Format writes a test in its canonical form. Reading that gives the test back.
// Comments are kept only behind verdicts.
func Format(t *Test) string {
	var b strings.Builder
	header(&b, "litmus", t.Name)
	for _, l := range wrapped(t.Doc, 90) {
		header(&b, "doc", l)
	}
	header(&b, "source", t.Source)
	header(&b, "rule", strings.Join(t.Rules, " "))
	if len(t.Profiles) > 0 {
		header(&b, "profiles", strings.Join(t.Profiles, " "))
	}
	if t.Faults != "" {
		header(&b, "faults", t.Faults)
	}
	header(&b, "hosts", strings.Join(t.Hosts, " "))
	for _, m := range t.Memory {
		header(&b, map[bool]string{false: "dram", true: "pmem"}[m.Persistent], m.text())
	}
	for _, m := range t.MRs {
		header(&b, "mr", m.Name+" on "+m.Host+": "+m.Loc+accessOption(m.Access))
	}
	for _, c := range t.CQs {
		header(&b, "cq", c.Name+" on "+c.Host)
	}
	for _, q := range t.QPs {
		header(&b, "qp", q.text())
	}
	if len(t.Show) > 0 {
		var s []string
		for _, x := range t.Show {
			s = append(s, x.Text())
		}
		header(&b, "show", strings.Join(s, " "))
	}
	for i := range t.Threads {
		t.Threads[i].format(&b)
	}
	for i := range t.Outcomes {
		t.Outcomes[i].format(&b)
	}
	return b.String()
}

// header writes a section of one line, if it says anything.
func header(b *strings.Builder, key, text string) {
	if text != "" {
		fmt.Fprintf(b, "%-6s %s\n", key, text)
	}
}

// wrapped cuts a text into lines at blanks.
func wrapped(text string, width int) []string {
	var out []string
	cur := ""
	for _, w := range strings.Fields(text) {
		if cur != "" && len(cur)+1+len(w) > width {
			out = append(out, cur)
			cur = ""
		}
		cur = strings.TrimSpace(cur + " " + w)
	}
	return append(out, cur)
}

func (m *Memory) text() string {
	out := m.Host + accessOption(m.Access) + ":"
	for _, b := range m.Blocks {
		var locs []string
		for _, l := range b.Locs {
			locs = append(locs, l.text())
		}
		text := strings.Join(locs, " ")
		if len(b.Locs) > 1 || b.Locs[0].At >= 0 {
			text = "(" + text + ")"
		}
		out += " " + text
	}
	return out
}

func (l *Loc) text() string {
	out := l.Name
	if l.Size > 0 {
		out += "[" + strconv.Itoa(l.Size) + "]"
	}
	if l.At >= 0 {
		out += "@" + strconv.Itoa(l.At)
	}
	if l.Init != 0 {
		out += "=" + Number(l.Init)
	}
	return out
}

// Number writes small numbers in decimal and large ones as bytes can be seen.
func Number(v uint64) string {
	if v < 1<<16 {
		return strconv.FormatUint(v, 10)
	}
	return fmt.Sprintf("%#x", v)
}

func accessOption(a *verbs.Access) string {
	if a == nil {
		return ""
	}
	return " access=" + formatAccess(*a)
}

func formatAccess(a verbs.Access) string {
	var out []string
	for _, f := range accessFlags {
		if a&f.flag != 0 {
			out = append(out, f.name)
		}
	}
	switch {
	case a == AllAccess:
		return "all"
	case len(out) == 0:
		return "none"
	}
	return strings.Join(out, "|")
}

func (q *QP) text() string {
	out := strings.TrimSpace(q.Name + " " + q.A + " -> " + q.B)
	for _, o := range q.Options {
		out += " "
		if o.Host != "" {
			out += o.Host + "."
		}
		out += o.Key + "=" + o.Value
	}
	return out
}

func (t *Thread) format(b *strings.Builder) {
	b.WriteByte('\n')
	switch {
	case t.Recover:
		fmt.Fprintf(b, "recover %s on %s\n", t.Name, t.Host)
	case t.Name == t.Host:
		fmt.Fprintf(b, "thread %s\n", t.Name)
	default:
		fmt.Fprintf(b, "thread %s on %s\n", t.Name, t.Host)
	}
	for _, s := range t.Body {
		b.WriteString("  " + StmtText(s) + "\n")
	}
}

func (o *Outcome) format(b *strings.Builder) {
	b.WriteString("\nexists ")
	if o.Name != "" {
		b.WriteString(o.Name + ": ")
	}
	b.WriteString(CondText(o.Cond) + "\n")
	width := 0
	for _, v := range o.Verdicts {
		width = max(width, len(v.Profile))
	}
	for _, v := range o.Verdicts {
		line := fmt.Sprintf("  %-*s %s", width, v.Profile, yesNo(v.Reached))
		if v.Why != "" {
			line += " # " + v.Why
		}
		b.WriteString(line + "\n")
	}
}

func yesNo(y bool) string {
	if y {
		return "Y"
	}
	return "N"
}

// CondText is a condition as a test has it.
func CondText(c Cond) string { return condText(c, 0) }

// condText writes parentheses where the operator around c binds more than c's.
func condText(c Cond, around int) string {
	wrap := func(binds int, text string) string {
		if binds < around {
			return "(" + text + ")"
		}
		return text
	}
	switch c := c.(type) {
	case Or:
		return wrap(1, condText(c.L, 1)+" || "+condText(c.R, 2))
	case And:
		return wrap(2, condText(c.L, 2)+" && "+condText(c.R, 3))
	case Not:
		return "!" + condText(c.X, 4)
	case Compare:
		return wrap(3, c.L.Text()+" "+c.Op+" "+c.R.Text())
	case Is:
		return c.What + "(" + c.Term.Text() + ")"
	}
	return ""
}

// Text is the term as a condition has it.
func (t *Term) Text() string {
	out := t.Name
	switch {
	case t.Name == "":
		return Number(t.Num)
	case t.Thread != "":
		out = t.Thread + "." + out
	case t.Host != "":
		out = t.Host + ":" + out
	}
	return out + partText(t.Part, t.Off, t.Len)
}

func partText(part bool, off, n int) string {
	switch {
	case !part:
		return ""
	case n == 0:
		return "[" + strconv.Itoa(off) + "]"
	}
	return "[" + strconv.Itoa(off) + ":" + strconv.Itoa(n) + "]"
}

// Text is the place as a statement has it.
func (r *Ref) Text() string {
	if r.Name == "" {
		return r.Host
	}
	out := r.Name
	if r.Host != "" {
		out = r.Host + ":" + out
	}
	return out + partText(r.Part, r.Off, r.Len)
}

// Text is the expression as a statement has it.
func (e *Expr) Text() string {
	switch {
	case e.Reg == "":
		return Number(e.Const)
	case e.Const == 0:
		return e.Reg
	}
	return e.Reg + " + " + Number(e.Const)
}

func (o *Operand) text() string {
	if o.Ref != nil {
		return o.Ref.Text()
	}
	return o.Expr.Text()
}

// listed is a scatter/gather list.
func listed(ops []Operand) string {
	if len(ops) == 1 {
		return ops[0].text()
	}
	var out []string
	for i := range ops {
		out = append(out, ops[i].text())
	}
	return "[" + strings.Join(out, " ") + "]"
}

// OpName is the word for a request in a test.
func OpName(op verbs.Opcode) string {
	switch op {
	case verbs.OpWriteImm:
		return "write"
	case verbs.OpSendImm:
		return "send"
	}
	for _, name := range maySet {
		if verbOps[name] == op && slices.Contains(maySet, name) && op != 0 {
			return name
		}
	}
	return op.String()
}
