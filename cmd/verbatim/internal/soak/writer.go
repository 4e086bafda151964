package soak

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// writer is one life of the writer.
type writer struct {
	*process
	began  time.Time
	shown  [][]byte // what it recovered
	opened bool
	took   time.Duration // from its start until it had the file
	alive  int           // peers that it had then
	acked  int
	last   time.Time // of the last acknowledgement
}

// shownRecord is a line of `recover --json` and `write --show`.
type shownRecord struct {
	Record int    `json:"record"`
	Data   []byte `json:"data"`
}

// feed gives p the records of a life, until it takes no more.
func feed(p *process, n int, record func(i int) []byte) {
	for i := 1; i <= n; i++ {
		r := record(i)
		if _, err := p.stdin.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(r))), r...)); err != nil {
			return
		}
	}
}

// take takes note of a line that it printed.
func (w *writer) take(line string) error {
	switch {
	case strings.HasPrefix(line, "{") && !w.opened:
		r, err := parseRecord(line, len(w.shown)+1)
		w.shown = append(w.shown, r)
		return err
	case strings.HasPrefix(line, "open: ") && !w.opened:
		var n, of int
		if _, err := fmt.Sscanf(line, "open: %d records, %d of %d peers", &n, &w.alive, &of); err != nil || n != len(w.shown) {
			return fmt.Errorf("%w: %s said %q after %d records", ErrStuck, w.name, line, len(w.shown))
		}
		w.opened, w.last, w.took = true, time.Now(), time.Since(w.began)
		return nil
	case w.opened && line == fmt.Sprintf("ack %d", len(w.shown)+w.acked+1):
		w.acked, w.last = w.acked+1, time.Now()
		return nil
	}
	return fmt.Errorf("%w: after %d records and %d acknowledgements %s said %q", ErrStuck, len(w.shown), w.acked, w.name, line)
}

func parseRecord(line string, want int) ([]byte, error) {
	var r shownRecord
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Record != want {
		return nil, fmt.Errorf("%w: %q should be record %d: %v", ErrStuck, line, want, err)
	}
	return r.Data, nil
}

// until takes what it prints until done says so.
func (w *writer) until(ctx context.Context, patience time.Duration, done func() bool) error {
	for !done() {
		line, err := w.next(ctx, patience)
		if err != nil {
			return err
		}
		if err := w.take(line); err != nil {
			return err
		}
	}
	return nil
}

// forSome takes what it prints for some time.
func (w *writer) forSome(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				return w.failed(w.cmd.Wait())
			}
			if err := w.take(line); err != nil {
				return err
			}
		case <-over.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// end waits until a writer that was killed is gone.
func (w *writer) end() error {
	var wrong error
	err := w.bury(func(line string) {
		if e := w.take(line); e != nil && wrong == nil {
			wrong = e
		}
	})
	if err != nil {
		return err
	}
	return wrong
}

// readAll is what `recover --json` prints: the records.
func (p *process) readAll(ctx context.Context, patience time.Duration) ([][]byte, error) {
	if err := p.stdin.Close(); err != nil {
		return nil, err
	}
	var records [][]byte
	expired := time.NewTimer(patience)
	defer expired.Stop()
	summary := false
	for {
		select {
		case line, ok := <-p.lines:
			switch {
			case !ok:
				if err := p.cmd.Wait(); err != nil || !summary {
					return nil, p.failed(err)
				}
				return records, nil
			case strings.HasPrefix(line, `{"file"`):
				summary = true
			default:
				r, err := parseRecord(line, len(records)+1)
				if err != nil {
					return nil, err
				}
				records = append(records, r)
			}
		case <-expired.C:
			return nil, fmt.Errorf("%w: %s did not end in %v; %s", ErrStuck, p.name, patience, p.lastWords())
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
