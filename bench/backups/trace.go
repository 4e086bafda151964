package backups

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// Errors; test for them with errors.Is.
var (
	// ErrTrace: the bytes are not a trace of machine events.
	ErrTrace = errors.New("backups: bad trace")
	// ErrConfig: a setting is not possible, or the trace has too few machines for it.
	ErrConfig = errors.New("backups: bad configuration")
)

// Trace records when machines were up. Machines have numbers from 0.
type Trace struct {
	Source string // the origin of the trace, for the reader
	// Machines is the number of machines; machines below Up are up at the beginning.
	Machines, Up int
	Events       []Event // by time
	// Ignored is the number of rows that change nothing: they remove a missing machine.
	Ignored int
}

// Event is the failure or the return of a machine.
type Event struct {
	At      time.Duration // since the beginning
	Machine int
	Up      bool
}

// The columns of a row, and the types of events.
const (
	timeColumn, machineColumn, typeColumn = 0, 1, 2
	added, removed, updated               = 0, 1, 2
)

// Read reads machine events in the format of Google's cluster trace of 2011 (the table
// machine_events, version 2 of the schema): lines of comma-separated values, without a
// header; the first three are the time in microseconds, the machine, and 0, 1 or 2
// if the machine was added, removed or updated. Machines that are added at time 0 are up at
// the beginning. A time of 2^63-1 means "after the trace"; such rows are omitted.
//
// The error wraps [ErrTrace], with the line, or is an error of r.
func Read(r io.Reader, source string) (*Trace, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	var rows []row
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			return nil, fmt.Errorf("%w: %s: %w", ErrTrace, source, err)
		}
		if err != nil {
			return nil, fmt.Errorf("backups: read %s: %w", source, err)
		}
		line, _ := in.FieldPos(0)
		x, keep, err := parseRow(fields)
		if err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w", ErrTrace, source, line, err)
		}
		if keep {
			rows = append(rows, x)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	t := &Trace{Source: source}
	t.take(rows)
	if t.Up == 0 {
		return nil, fmt.Errorf("%w: %s: no machine is added at time 0", ErrTrace, source)
	}
	return t, nil
}

// row is a machine that was added or removed.
type row struct {
	at      time.Duration
	machine uint64
	up      bool
}

// The longest trace that time.Duration holds, in microseconds.
const longest = math.MaxInt64 / 1000

func parseRow(fields []string) (x row, keep bool, err error) {
	if len(fields) <= typeColumn {
		return row{}, false, fmt.Errorf("%d columns; the first three are time, machine and type", len(fields))
	}
	at, err := strconv.ParseUint(fields[timeColumn], 10, 64)
	if err != nil || at > longest && at != math.MaxInt64 {
		return row{}, false, fmt.Errorf("the time %q is not a number of microseconds", fields[timeColumn])
	}
	x.machine, err = strconv.ParseUint(fields[machineColumn], 10, 64)
	if err != nil {
		return row{}, false, fmt.Errorf("the machine %q is not a number", fields[machineColumn])
	}
	kind, err := strconv.Atoi(fields[typeColumn])
	if err != nil || kind < added || kind > updated {
		return row{}, false, fmt.Errorf("the type %q is not 0, 1 or 2", fields[typeColumn])
	}
	if at == math.MaxInt64 {
		return row{}, false, nil
	}
	x.at, x.up = time.Duration(at)*time.Microsecond, kind == added
	return x, kind != updated, nil
}

// take numbers the machines, those that are up at the beginning first, and keeps only rows
// with an effect.
func (t *Trace) take(rows []row) {
	numbers, up := map[uint64]int{}, map[int]bool{}
	for _, x := range rows {
		n, known := numbers[x.machine]
		if !known {
			n = len(numbers)
		}
		if up[n] == x.up {
			t.Ignored++
			continue
		}
		numbers[x.machine] = n
		switch {
		case x.at == 0 && x.up && n == t.Up:
			t.Up++
		default:
			t.Events = append(t.Events, Event{x.at, n, x.up})
		}
		up[n] = x.up
	}
	t.Machines = len(numbers)
}

// Write writes t in the format that [Read] reads.
func (t *Trace) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	line := func(at time.Duration, machine, kind int) error {
		return out.Write([]string{strconv.FormatInt(at.Microseconds(), 10), strconv.Itoa(machine), strconv.Itoa(kind), "", "", ""})
	}
	for m := range t.Up {
		if err := line(0, m, added); err != nil {
			return err
		}
	}
	for _, e := range t.Events {
		kind := removed
		if e.Up {
			kind = added
		}
		if err := line(e.At, e.Machine, kind); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
