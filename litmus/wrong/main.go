// Command wrong runs litmus tests on the simulator, and prints the wrong verdicts, one
// JSON object per line, with the keys test, profile, condition, expected and got.
// Package mutant builds it for each mutant, in half the time of the whole command
// verbatim.
//
// Exit status: 0 all tests have run, 2 one could not be read or run.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/verbatim-rdma/verbatim/litmus"
)

// maxTime bounds the search of one test under one profile.
const maxTime = time.Minute

// verdict is a line of the output.
type verdict struct {
	Test      string `json:"test"`
	Profile   string `json:"profile"`
	Condition string `json:"condition"`
	Expected  string `json:"expected"`
	Got       string `json:"got"`
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "wrong: %v\n", err)
		os.Exit(2)
	}
}

func run(files []string, w io.Writer) error {
	out := json.NewEncoder(w)
	for _, file := range files {
		t, err := litmus.ParseFile(file)
		if err != nil {
			return err
		}
		for _, profile := range litmus.Profiles(t) {
			r, err := litmus.Run(t, profile, litmus.Options{MaxTime: maxTime})
			if err != nil {
				return fmt.Errorf("%s with %s: %w", file, profile, err)
			}
			for i := range r.Rows {
				row := &r.Rows[i]
				if !row.Wrong() {
					continue
				}
				if err := out.Encode(verdict{t.Name, profile, row.Cond, string(row.Expected), string(row.Got)}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
