package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/whole"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/drawing"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// writePage replays a counterexample and writes its page, or its drawing.
func (f *replayFlags) writePage(w io.Writer, ce *explore.Counterexample, s *explore.Scenario, file string) error {
	to, flag := f.html, "--html"
	if f.svg != "" {
		to, flag = f.svg, "--svg"
	}
	if same(to, file) {
		return fmt.Errorf("%s %s would overwrite the counterexample: name another file", flag, to)
	}
	read, err := reader(f.overlay)
	if err != nil {
		return err
	}
	re, err := replayFull(w, ce, s, file)
	if err != nil {
		return err
	}
	text, code := outcome(ce, re)
	p := page{file: to, text: text, note: f.note, command: ReplayCommand(filepath.Base(file)) + traceArgs(f.trace, f.traceFile, filepath.Dir(file)),
		read: read}
	if f.svg != "" {
		err = p.draw(s, ce, re, f.until)
	} else {
		err = p.write(s, ce, re)
	}
	if err != nil {
		return err
	}
	return tells(w, code, "%s\n%s\n", text, to)
}

// replayFull repeats a run and records what pages and stories need. It reports a step that hangs on w.
func replayFull(w io.Writer, ce *explore.Counterexample, s *explore.Scenario, file string) (*explore.Replay, error) {
	re, err := ce.ReplayFull(s)
	if errors.Is(err, explore.ErrHang) {
		return nil, hangs(w, file, err)
	}
	if err != nil && !errors.Is(err, explore.ErrNotReproduced) {
		return nil, fmt.Errorf("%s: %w", filepath.Clean(file), err)
	}
	return re, nil
}

// document returns the document of a run, with its story. In a litmus test the sources are lines of the test.
func document(r view.Run) *view.Document {
	if r.Litmus && litmus.PointAtLines(r.Replay, r.Scenario.Text, r.Scenario.Name) == nil && r.Read != nil {
		read := r.Read
		r.Read = func(file string) ([]byte, error) {
			if file == r.Scenario.Name {
				return []byte(r.Scenario.Text), nil
			}
			return read(file)
		}
	}
	d := view.New(r)
	d.Story = story.Tell(d)
	return d
}

// page is a page to be written.
type page struct {
	file, text, note, command string
	read                      func(string) ([]byte, error)
}

func (p *page) write(s *explore.Scenario, ce *explore.Counterexample, re *explore.Replay) error {
	d := p.document(s, ce, re)
	return written(p.file, func(w io.Writer) error { return view.Write(w, d) })
}

// draw writes the drawing of the run up to a step; 0 means all.
func (p *page) draw(s *explore.Scenario, ce *explore.Counterexample, re *explore.Replay, until int) error {
	d := p.document(s, ce, re)
	return written(p.file, func(w io.Writer) error { return drawing.Write(w, d, until) })
}

// written writes a file and creates its folder.
func written(file string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	if err := whole.Write(file, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	return nil
}

func (p *page) document(s *explore.Scenario, ce *explore.Counterexample, re *explore.Replay) *view.Document {
	return document(view.Run{Scenario: s, Counterexample: ce, Replay: re, Outcome: p.text, Note: p.note, Command: p.command,
		Litmus: litmus.IsScenario(ce.Scenario), Read: p.read})
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// maxOverlay bounds the file of --overlay.
const maxOverlay = 1 << 20

// reader reads source files; an overlay may replace some of them.
func reader(overlay string) (func(string) ([]byte, error), error) {
	if overlay == "" {
		return os.ReadFile, nil
	}
	st, err := os.Stat(overlay)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxOverlay {
		return nil, fmt.Errorf("%s: an overlay has at most %d bytes", overlay, maxOverlay)
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		return nil, err
	}
	var x struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, fmt.Errorf("%s: %w; it must be the file given to `go build -overlay`", overlay, err)
	}
	return func(file string) ([]byte, error) {
		if to, ok := x.Replace[file]; ok {
			file = to
		}
		return os.ReadFile(file)
	}, nil
}
