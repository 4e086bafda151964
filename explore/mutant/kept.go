package mutant

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// keptHead is the first line of a file of results. It identifies the code and the budgets, and
// has the mutants that each scenario reaches, so that these are determined only once.
type keptHead struct {
	Protocol  string  `json:"protocol"`
	Program   string  `json:"program"` // a hash
	Budget    string  `json:"budget"`
	Scenarios []reach `json:"scenarios"`
	Tests     []reach `json:"tests"`
}

// maxLine bounds a line of a file of results. The first has a number for each mutant and
// scenario.
const maxLine = 16 << 20

// open reads the earlier results, and opens the file for more. If the file has no control run,
// open makes one.
func (j *judge) open() (map[string]Judged, error) {
	head, err := j.head()
	if err != nil {
		return nil, err
	}
	if j.opt.File == "" {
		return nil, j.controlOnce(head)
	}
	f, err := os.OpenFile(j.opt.File, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j.file = f
	kept, err := j.read(f, head)
	if err != nil {
		f.Close()
	}
	return kept, err
}

// controlOnce makes the control run, unless one was kept for the same program, and stores its
// result in h.
func (j *judge) controlOnce(h *keptHead) error {
	text, _ := json.Marshal(h) // every field has a JSON form
	id := sha256.Sum256(text)
	name := ""
	if j.opt.Kept != "" {
		name = filepath.Join(j.opt.Kept, "reach-"+hex.EncodeToString(id[:8])+".json")
		var have keptHead
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &have) == nil && j.takes(&have, h) {
			*h = have
			return nil
		}
	}
	if err := j.control(); err != nil {
		return err
	}
	h.Scenarios = j.scenarios
	for _, t := range j.tests {
		h.Tests = append(h.Tests, t.reach)
	}
	return keep(name, h)
}

// takes adopts a kept control run if its program and budget are those of want.
func (j *judge) takes(have, want *keptHead) bool {
	if have.Protocol != want.Protocol || have.Program != want.Program || have.Budget != want.Budget || len(have.Tests) != len(j.tests) {
		return false
	}
	j.scenarios = have.Scenarios
	for i := range j.tests {
		j.tests[i].reach = have.Tests[i]
	}
	return true
}

// head returns the expected first line of the file, without the results of the control run.
func (j *judge) head() (*keptHead, error) {
	h := &keptHead{Protocol: j.opt.Protocol, Budget: fmt.Sprint(j.opt.RandomRuns, " ", j.opt.SearchRuns, " ", j.opt.MaxTime)}
	var err error
	h.Program, err = hashOf(j.program)
	return h, err
}

// read reads the results that f has. An incomplete last line is rewritten: the
// program was stopped there.
func (j *judge) read(f *os.File, want *keptHead) (map[string]Judged, error) {
	r := bufio.NewReaderSize(f, 1<<16)
	var at int64
	next := func(x any) (bool, error) {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) || len(text) > maxLine {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal(text, x); err != nil {
			return false, fmt.Errorf("%s: it contains no results of mutants: %w", j.opt.File, err)
		}
		at += int64(len(text))
		return true, nil
	}
	var have keptHead
	ok, err := next(&have)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, j.begin(f, want)
	}
	if !j.takes(&have, want) {
		return nil, fmt.Errorf("%s: it has the results of different code or different budgets: name another file, or remove this one", j.opt.File)
	}
	out := map[string]Judged{}
	for {
		var x Judged
		if ok, err := next(&x); err != nil {
			return nil, err
		} else if !ok {
			break
		}
		out[x.ID] = x
	}
	if err := f.Truncate(at); err != nil {
		return nil, err
	}
	_, err = f.Seek(at, io.SeekStart)
	return out, err
}

// begin begins the file.
func (j *judge) begin(f *os.File, h *keptHead) error {
	if st, err := f.Stat(); err != nil || st.Size() > 0 {
		return errors.Join(err, fmt.Errorf("%s: it contains no results of mutants", j.opt.File))
	}
	if err := j.controlOnce(h); err != nil {
		return err
	}
	text, err := line(h)
	if err == nil {
		_, err = f.Write(text)
	}
	return err
}

// keep adds a result to the file.
func (j *judge) keep(x *Judged) {
	if j.file == nil || j.ctx.Err() != nil {
		return
	}
	text, err := line(x)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		_, err = j.file.Write(text)
	}
	j.err = errors.Join(j.err, err)
}

// failed describes an error of the file.
func (j *judge) failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

func (j *judge) close() {
	if j.file != nil {
		j.file.Close()
	}
}
