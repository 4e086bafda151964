package soak

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/process"
)

// writer is one life of the writer.
type writer struct {
	*process.Process
	began   time.Time
	started time.Time // when it was the one instance
	shown   [][]byte  // what it recovered
	opened  bool
	took    time.Duration // from then until it had the file
	alive   []string      // the peers that it last said it has
	repairs int           // how often it has put others in the place of peers, or tried
	acked   int
	last    time.Time     // of the last acknowledgement
	more    chan struct{} // closed to feed it the records for later
	once    sync.Once
}

// feedMore feeds the writer the later records, too.
func (w *writer) feedMore() { w.once.Do(func() { close(w.more) }) }

// shownRecord is a line of `recover --json` and `write --show`.
type shownRecord struct {
	Record int    `json:"record"`
	Data   []byte `json:"data"`
}

// feed gives w the records of a life, until it accepts no more: n records, and then the later ones.
func (w *writer) feed(n int, record func(i int) []byte) {
	for i := 1; i <= n+later; i++ {
		if i == n+1 {
			<-w.more
		}
		r := record(i)
		if _, err := w.Stdin.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(r))), r...)); err != nil {
			return
		}
	}
}

// take records a line that the writer printed.
func (w *writer) take(line string) error {
	switch {
	case strings.HasPrefix(line, "start: ") && w.started.IsZero():
		w.started = time.Now()
		return nil
	case strings.HasPrefix(line, "{") && !w.opened:
		r, err := parseRecord(line, len(w.shown)+1)
		w.shown = append(w.shown, r)
		return err
	case strings.HasPrefix(line, "open: ") && !w.opened:
		n, alive, err := parsePeers(line)
		if err != nil || n != len(w.shown) {
			return fmt.Errorf("%w: %s printed %q after %d records", ErrStuck, w.Name, line, len(w.shown))
		}
		w.alive, w.opened, w.last, w.took = alive, true, time.Now(), time.Since(w.started)
		return nil
	case strings.HasPrefix(line, "repair: ") && w.opened:
		_, alive, err := parsePeers("open: 0 records, " + strings.TrimPrefix(line, "repair: "))
		if err != nil {
			return fmt.Errorf("%w: %s printed %q", ErrStuck, w.Name, line)
		}
		w.alive = alive
		w.repairs++
		return nil
	case w.opened && line == fmt.Sprintf("ack %d", len(w.shown)+w.acked+1):
		w.acked, w.last = w.acked+1, time.Now()
		return nil
	}
	return fmt.Errorf("%w: after %d records and %d acknowledgements %s printed %q", ErrStuck, len(w.shown), w.acked, w.Name, line)
}

// parsePeers parses the line 'open: N records, 3 of 3 peers: NAMES'.
func parsePeers(line string) (records int, alive []string, err error) {
	head, names, ok := strings.Cut(line, " peers: ")
	var n, of int
	if _, err := fmt.Sscanf(head, "open: %d records, %d of %d", &records, &n, &of); err != nil {
		return 0, nil, err
	}
	if alive = strings.Fields(names); !ok || len(alive) != n {
		return 0, nil, fmt.Errorf("%d names of %d peers", len(alive), n)
	}
	return records, alive, nil
}

func parseRecord(line string, want int) ([]byte, error) {
	var r shownRecord
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Record != want {
		return nil, fmt.Errorf("%w: %q should be record %d: %v", ErrStuck, line, want, err)
	}
	return r.Data, nil
}

// until reads the output of the writer until done returns true.
func (w *writer) until(ctx context.Context, patience time.Duration, done func() bool) error {
	for !done() {
		line, err := w.Next(ctx, patience)
		if err != nil {
			return err
		}
		if err := w.take(line); err != nil {
			return err
		}
	}
	return nil
}

// forSome reads the output of the writer for some time.
func (w *writer) forSome(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		select {
		case line, ok := <-w.Lines:
			if !ok {
				return w.Failed(w.Cmd.Wait())
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

// end waits until a killed writer has exited.
func (w *writer) end() error {
	var wrong error
	err := w.Bury(func(line string) {
		if e := w.take(line); e != nil && wrong == nil {
			wrong = e
		}
	})
	if err != nil {
		return err
	}
	return wrong
}

// readAll returns the records that `recover --json` prints.
func readAll(ctx context.Context, p *process.Process, patience time.Duration) ([][]byte, error) {
	var records [][]byte
	summary := false
	err := p.Rest(ctx, patience, func(line string) error {
		if strings.HasPrefix(line, `{"file"`) {
			summary = true
			return nil
		}
		r, err := parseRecord(line, len(records)+1)
		records = append(records, r)
		return err
	})
	if err == nil && !summary {
		err = p.Failed(nil)
	}
	return records, err
}
