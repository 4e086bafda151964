package generate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Test is the program as a litmus test that asks for every final state, and that
// there is no other. Under the profiles that were asked it passes. The error says
// why some profile has no answer.
func (v *Verdicts) Test() (*lang.Test, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	t := v.Program.Test()
	t.Doc = fmt.Sprintf("Made by `verbatim litmus generate --program %s`: all final states under each profile.", v.Program)
	t.Profiles = v.Profiles
	var any lang.Cond
	for i, s := range v.States {
		c, err := condition(s.Text)
		if err != nil {
			return nil, err
		}
		t.Outcomes = append(t.Outcomes, lang.Outcome{Name: "s" + strconv.Itoa(i+1), Cond: c, Verdicts: v.lines(s.By)})
		if any == nil {
			any = c
		} else {
			any = lang.Or{L: any, R: c}
		}
	}
	t.Outcomes = append(t.Outcomes, lang.Outcome{Name: "other", Cond: lang.Not{X: any}, Verdicts: v.lines(make([]bool, len(v.Profiles)))})
	return t, nil
}

// lines writes verdicts: one line for all profiles if they agree.
func (v *Verdicts) lines(by []bool) []lang.Verdict {
	if n := count(by); n == 0 || n == len(by) {
		return []lang.Verdict{{Profile: "*", Reached: n > 0}}
	}
	var out []lang.Verdict
	for i, name := range v.Profiles {
		out = append(out, lang.Verdict{Profile: name, Reached: by[i]})
	}
	return out
}

// condition reads a final state.
func condition(text string) (lang.Cond, error) {
	var all lang.Cond
	for part := range strings.FieldsSeq(text) {
		name, num, ok := strings.Cut(part, "=")
		n, err := strconv.ParseUint(num, 0, 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("%w: the final state %q has no number in %q", ErrProgram, text, part)
		}
		t := lang.Term{Name: name}
		if h, l, ok := strings.Cut(name, ":"); ok {
			t.Host, t.Name = h, l
		} else if th, r, ok := strings.Cut(name, "."); ok {
			t.Thread, t.Name = th, r
		}
		c := lang.Compare{L: t, Op: "==", R: lang.Term{Num: n}}
		if all == nil {
			all = c
		} else {
			all = lang.And{L: all, R: c}
		}
	}
	return all, nil
}

// Who names the profiles of a group: "all", or their names.
func (v *Verdicts) Who(by []bool) string {
	if !slices.Contains(by, false) {
		return "all"
	}
	var out []string
	for i, y := range by {
		if y {
			out = append(out, v.Profiles[i])
		}
	}
	return strings.Join(out, " ")
}

// variants are profiles with one knob turned that a program can tell from the
// named ones, weaker or stronger. CellBytes=1 is not among them: a search in which
// every byte moves by itself does not end in time.
var variants = []string{
	"strong+Placement=Blocks128", "strong+Placement=AnyOrder", "strong+ReadsSeeAcked=false", "strong+AtomicFlushes=false",
	"strong+AtomicOrdersLater=false", "strong+FenceWaitsAll=true", "strong+AtomicGlob=true", "strong+MaxRdAtomic=1",
	"strong+StoreBuffers=false", "iba+AtomicFlushes=false",
}

// AllProfiles are the named profiles, and those with one knob turned that programs
// can tell from them: what the order of profiles is tested with.
func AllProfiles() []string { return append(faults.ProfileNames(), variants...) }
