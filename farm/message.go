package farm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// order is a job on its way to a worker.
type order struct {
	Job
	Batch  string `json:"batch"`
	Number int    `json:"number"` // in its batch
}

// part is a part of a result: a server accepts only messages of limited size.
type part struct {
	Number  int    `json:"number"`  // of the job
	Attempt string `json:"attempt"` // of a worker at the job
	Part    int    `json:"part"`
	Of      int    `json:"of"`
	Data    []byte `json:"data"` // of the JSON of the result
}

// partSize is the size of Data. By default a server limits a message to 1 MiB, and JSON makes Data a third longer.
const partSize = 256 << 10

// maxResult bounds a result, and the part of an output that a worker keeps.
const maxResult = 64 << 20

// ErrMalformed is wrapped by errors about messages of others.
var ErrMalformed = errors.New("farm: malformed message")

// parts divides a result into parts of at most size bytes.
func parts(number int, attempt string, r *Result, size int) ([]part, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var out []part
	of := max(1, (len(b)+size-1)/size)
	for i := range of {
		n := min(len(b), size)
		out = append(out, part{number, attempt, i, of, b[:n]})
		b = b[n:]
	}
	return out, nil
}

// gathered collects the parts of the results of a batch.
type gathered struct {
	results  []*Result
	attempts map[string][][]byte
}

func newGathered(jobs int) *gathered {
	return &gathered{make([]*Result, jobs), map[string][][]byte{}}
}

// add adds a part. It returns the number of the job if its result is now complete, and -1 otherwise: also if the job has
// a result already, since the first complete one counts.
func (g *gathered) add(b []byte) (int, error) {
	var p part
	if err := json.Unmarshal(b, &p); err != nil {
		return -1, fmt.Errorf("%w: part of a result: %w", ErrMalformed, err)
	}
	if p.Number < 0 || p.Number >= len(g.results) || p.Of < 1 || p.Of > maxResult/partSize*2 || p.Part < 0 || p.Part >= p.Of {
		return -1, fmt.Errorf("%w: part %d of %d of job %d", ErrMalformed, p.Part, p.Of, p.Number)
	}
	if g.results[p.Number] != nil {
		return -1, nil
	}
	key := fmt.Sprint(p.Number, " ", p.Attempt)
	have := g.attempts[key]
	if have == nil {
		have = make([][]byte, p.Of)
		g.attempts[key] = have
	}
	if len(have) != p.Of {
		return -1, fmt.Errorf("%w: attempt %s has %d parts, and then %d", ErrMalformed, p.Attempt, len(have), p.Of)
	}
	have[p.Part] = append([]byte{}, p.Data...)
	for _, x := range have {
		if x == nil {
			return -1, nil
		}
	}
	delete(g.attempts, key)
	r := &Result{}
	if err := json.Unmarshal(bytes.Join(have, nil), r); err != nil {
		return -1, fmt.Errorf("%w: result of job %d: %w", ErrMalformed, p.Number, err)
	}
	if r.Worker == "" {
		return -1, fmt.Errorf("%w: result of job %d: no worker sent it", ErrMalformed, p.Number)
	}
	g.results[p.Number] = r
	return p.Number, nil
}
