package litmus

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// PointAtLines sets the source of each event of a replay to a line of the litmus test. Before, the source is a line of the
// Go code that executes the test. The parameter text is the source of the test, and file is its name. Each statement
// begins with a log event that contains its line. An event in a later step belongs to this line only if no other thread
// runs on the host. An event that belongs to no line gets an empty source. PointAtLines also sets the outcome that the
// violation reaches.
func PointAtLines(re *explore.Replay, text, file string) error {
	t, err := Parse(file, []byte(text))
	if err != nil {
		return err
	}
	threads := map[string]int{}
	for i := range t.Threads {
		threads[t.Threads[i].Host]++
	}
	type place struct{ line, step int }
	at := map[string]place{} // by host
	for i := range re.Events {
		e := &re.Events[i]
		if e.Kind == "log" {
			if n, ok := lineOf(e.Text); ok {
				at[e.Host] = place{n, e.Step}
			}
		}
		p := at[e.Host]
		switch {
		case e.Kind == "violation":
			re.Outcome, p.line = outcomeOf(t, explore.ClassOf(re.Err))
		case e.Kind == "start", e.Kind == "end":
			delete(at, e.Host)
			p.line = 0
		case e.Source == "", p.step != e.Step && threads[e.Host] > 1:
			p.line = 0
		}
		e.Source, e.File = "", ""
		if p.line > 0 {
			e.Source, e.File = fmt.Sprintf("%s%s:%d", t.Name, lang.Ext, p.line), file
		}
	}
	return nil
}

// lineOf returns the line number in the log event of a statement.
func lineOf(note string) (int, bool) {
	number, _, ok := strings.Cut(note, ": ")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}

// outcomeOf returns the outcome that a class of violations names, and its line.
func outcomeOf(t *lang.Test, class string) (name string, line int) {
	for i := range t.Outcomes {
		if name := t.OutcomeName(i); classPrefix+name == class {
			return name, t.Outcomes[i].Pos.Line
		}
	}
	return "", 0
}
