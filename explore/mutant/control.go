package mutant

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/verbatim-rdma/verbatim/explore"
)

// kept is the record of a verified control run: its program and its options.
type kept struct {
	Program  string   `json:"program"` // a hash
	Protocol string   `json:"protocol"`
	Timers   string   `json:"timers"`
	Searches []Search `json:"searches"`
}

// control checks the unmodified code in the scenarios that `verbatim check` selects by default:
// deep scenarios take too long to exhaust. A result that was kept for the same program is
// reused.
func (r *runner) control() error {
	p, err := r.build(checking, "control", nil)
	if err != nil {
		return err
	}
	c := kept{Protocol: r.opt.Protocol, Timers: r.opt.Timers, Searches: []Search{}}
	if c.Program, err = hashOf(p.path); err != nil {
		return err
	}
	name, again := c.find(r.opt.Kept)
	if again {
		r.note(fmt.Sprintf("the code without a mutant was verified before, as %s says", name))
		return nil
	}
	for _, scenario := range p.scenarios {
		if p.deep[scenario] {
			continue
		}
		s, err := p.search(scenario, round{strategy: explore.Exhaustive}, nil)
		if err != nil {
			return err
		}
		if s.Verdict != explore.Verified {
			return fmt.Errorf("%w: %s: %s after %d runs and %.0f s: %s", ErrControl, scenario, s.Verdict, s.Runs, s.Seconds, s.Reason)
		}
		c.Searches = append(c.Searches, *s)
	}
	r.note(fmt.Sprintf("the code without a mutant is verified in %d scenarios", len(c.Searches)))
	return keep(name, &c)
}

// note passes a message to Options.Note, if that is set.
func (r *runner) note(text string) {
	if r.opt.Note != nil {
		r.opt.Note(text)
	}
}

// find returns the file in a folder that keeps this run, and whether it exists. Without a folder
// the name is empty.
func (c *kept) find(folder string) (name string, there bool) {
	if folder == "" {
		return "", false
	}
	id := sha256.Sum256([]byte(c.Program + " " + c.Protocol + " " + c.Timers))
	name = filepath.Join(folder, "control-"+hex.EncodeToString(id[:8])+".json")
	var have kept
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &have)
	}
	return name, err == nil && have.Program == c.Program && have.Protocol == c.Protocol && have.Timers == c.Timers && len(have.Searches) > 0
}

// keep writes the result of a control run atomically. Without a name it writes nothing.
func keep(name string, x any) error {
	if name == "" {
		return nil
	}
	text, err := line(x)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err == nil {
		err = os.WriteFile(name+".new", text, 0o644)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("the control run passed, but its result cannot be saved: %w", err)
	}
	return nil
}

// hashOf returns a hash of a file's content.
func hashOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)[:8]), errors.Join(err)
}
