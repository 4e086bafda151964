package model

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// steps carries out a trace: each word is an operation and an LSN, and found records follow "found".
func steps(l *RecordLog, trace ...any) (err error) {
	data := func(lsn uint64) []byte { return fmt.Appendf(nil, "data %d", lsn) }
	for i := 0; i < len(trace) && err == nil; i += 2 {
		switch x := trace[i+1].(type) {
		case []Found:
			err = l.Recovered(x)
		case int:
			lsn := uint64(x)
			switch trace[i] {
			case "reserve":
				err = l.Reserve(lsn)
			case "completing":
				err = errors.Join(l.Reserve(lsn), l.Completing(lsn, data(lsn)))
			case "completed":
				err = errors.Join(l.Reserve(lsn), l.Completing(lsn, data(lsn)), l.Completed(lsn))
			case "forced":
				err = l.Forced(lsn)
			case "cleaning":
				err = l.Cleaning(lsn)
			case "cleaned":
				err = errors.Join(l.Cleaning(lsn), l.Cleaned(lsn))
			case "all":
				l.CleaningAll()
			case "all done":
				l.CleanedAll()
			case "all cleaned":
				l.CleaningAll()
				l.CleanedAll()
			}
		}
	}
	return err
}

// has are records with the contents that steps gives them.
func has(lsns ...uint64) []Found {
	var out []Found
	for _, lsn := range lsns {
		out = append(out, Found{lsn, fmt.Appendf(nil, "data %d", lsn)})
	}
	return out
}

func TestRecordLog(t *testing.T) {
	other := []Found{{1, []byte("other")}}
	for _, x := range []struct {
		name  string
		trace []any
		want  error
	}{
		{"nothing", []any{"found", has()}, nil},
		{"forced", []any{"completed", 1, "forced", 1, "found", has(1)}, nil},
		{"forced and lost", []any{"completed", 1, "forced", 1, "found", has()}, ErrLostRecord},
		{"one before it is lost", []any{"completed", 1, "completed", 2, "forced", 2, "found", has(2)}, ErrLostRecord},
		{"not forced", []any{"completed", 1, "found", has()}, nil},
		{"not forced and found", []any{"completed", 1, "found", has(1), "found", has(1)}, nil},
		{"found once", []any{"completed", 1, "found", has(1), "found", has()}, ErrLostRecord},
		{"lost, and back", []any{"completed", 1, "found", has(), "found", has(1)}, ErrForeignRecord},
		{"lost, and its LSN used", []any{"completed", 1, "completed", 2, "found", has(), "completed", 1, "forced", 1, "found", has(1)}, nil},
		{"lost, and back behind another", []any{"completed", 1, "completed", 2, "found", has(), "completed", 1, "forced", 1, "found", has(1, 2)}, ErrForeignRecord},
		{"a gap", []any{"completed", 1, "completed", 2, "found", has(2)}, ErrRecordGap},
		{"no order", []any{"completed", 1, "completed", 2, "found", has(2, 1)}, ErrRecordGap},
		{"twice", []any{"completed", 1, "completed", 2, "found", has(1, 1)}, ErrRecordGap},
		{"forced over a gap", []any{"reserve", 1, "completed", 2, "forced", 2}, ErrRecordGap},
		{"other bytes", []any{"completed", 1, "found", other}, ErrForeignRecord},
		{"reserved", []any{"reserve", 1, "found", has(1)}, ErrForeignRecord},
		{"being completed", []any{"completing", 1, "found", has(1)}, nil},
		{"an LSN twice", []any{"reserve", 1, "reserve", 1}, ErrRecordTwice},
		{"a settled LSN", []any{"completed", 1, "forced", 1, "cleaning", 1, "found", has(), "reserve", 1}, ErrRecordTwice},
		{"cleaned", []any{"completed", 1, "forced", 1, "cleaned", 1, "found", has()}, nil},
		{"cleaned and back", []any{"completed", 1, "forced", 1, "cleaned", 1, "found", has(1)}, ErrRecordBack},
		{"cleaned behind another, and back", []any{"completed", 1, "completed", 2, "forced", 2, "cleaned", 2, "found", has(1, 2)}, ErrRecordBack},
		{"cleaned behind another", []any{"completed", 1, "completed", 2, "completed", 3, "forced", 3, "cleaned", 2, "found", has(1, 3)}, nil},
		{"being cleaned, there", []any{"completed", 1, "forced", 1, "cleaning", 1, "found", has(1)}, nil},
		{"being cleaned, there, and gone", []any{"completed", 1, "forced", 1, "cleaning", 1, "found", has(1), "found", has()}, ErrLostRecord},
		{"further than the window", []any{"completed", 1, "reserve", 2, "reserve", 3, "reserve", 4, "found", has()}, ErrLostRecord},
		{"as far as the window", []any{"completed", 1, "reserve", 2, "reserve", 3, "found", has()}, nil},
		{"further than the window, and not complete", []any{"reserve", 1, "reserve", 2, "reserve", 3, "reserve", 4}, ErrWindow},
		{"an LSN far ahead", []any{"reserve", 1 << 24}, ErrRecordGap},
		{"cleaned while all are, and there", []any{"completed", 1, "forced", 1, "all", 0, "completed", 2, "forced", 2, "cleaning", 2, "all done", 0, "found", has(2)}, nil},
		{"reserved while all are cleaned, and gone", []any{"completed", 1, "forced", 1, "all", 0, "completed", 2, "forced", 2, "all done", 0, "found", has()}, nil},
		{"there before all were cleaned, and back", []any{"completed", 1, "forced", 1, "all", 0, "completed", 2, "forced", 2, "all done", 0, "found", has(1, 2)}, ErrRecordBack},
		{"lost while it was being cleaned, and its LSN used", []any{"completed", 1, "cleaning", 1, "found", has(), "all cleaned", 0, "completed", 1, "forced", 1, "found", has(1)}, nil},
		{"being cleaned, gone, and back", []any{"completed", 1, "completed", 2, "forced", 2, "cleaning", 1, "found", has(2), "found", has(1, 2)}, ErrRecordBack},
		{"all", []any{"completed", 1, "completed", 2, "forced", 2, "all cleaned", 0, "found", has()}, nil},
		{"all, and back", []any{"completed", 1, "completed", 2, "forced", 2, "all cleaned", 0, "found", has(1, 2)}, ErrRecordBack},
		{"two are lost", []any{"completed", 1, "completed", 2, "found", has()}, nil},
		{"three are lost", []any{"completed", 1, "completed", 2, "completed", 3, "found", has()}, ErrWindow},
		{"three are not complete", []any{"completing", 1, "completing", 2, "completing", 3, "found", has()}, nil},
		{"cleaned before it was reserved", []any{"cleaned", 1}, ErrRecordUse},
	} {
		t.Run(x.name, func(t *testing.T) {
			l := RecordLog{Window: 2}
			err := steps(&l, x.trace...)
			if !errors.Is(err, x.want) || (err != nil) != (x.want != nil) {
				t.Errorf("got %v, want %v", err, x.want)
			}
			var v *RecordViolation
			if errors.As(err, &v) && (v.Class() == "" || v.Error() == "") {
				t.Error("a violation without a class")
			}
		})
	}
}

// logOracle keeps the whole history and finds out by trying all what a recovery may return.
type logOracle struct {
	window int
	events []logEvent
}

type logEvent struct {
	op  string
	lsn uint64
}

// allowed lists what the next recovery may return.
func (o *logOracle) allowed() map[string]bool {
	type state struct{ stage, cleaning, cleaned int }
	recs := map[uint64]*state{}
	var top, durable uint64
	for _, e := range o.events {
		switch e.op {
		case "found": // what follows is decided
			for lsn := range recs {
				if lsn > e.lsn {
					delete(recs, lsn)
				}
			}
			top = e.lsn
		case "gone":
			recs[e.lsn].cleaned = 1
		case "completing":
			recs[e.lsn] = &state{stage: 1}
			top = max(top, e.lsn)
			if w := uint64(o.window); w > 0 && e.lsn > w+1 {
				durable = max(durable, e.lsn-w-1)
			}
		case "completed":
			recs[e.lsn].stage = 2
		case "forced":
			durable = max(durable, e.lsn)
		case "cleaning":
			recs[e.lsn].cleaning = 1
		case "cleaned":
			recs[e.lsn].cleaned = 1
		case "stays": // its cleanup was cut off
			recs[e.lsn].cleaning = 0
		}
	}
	out := map[string]bool{}
	for end := uint64(0); end <= top; end++ {
		ok, lost := true, 0
		for lsn := end + 1; lsn <= top; lsn++ {
			if r := recs[lsn]; r != nil && r.cleaning == 0 {
				ok = ok && lsn > durable
				lost += r.stage / 2
			}
		}
		if !ok || o.window > 0 && lost > o.window {
			continue
		}
		for set := range 1 << end {
			var found []Found
			fits := true
			for lsn := uint64(1); lsn <= end; lsn++ {
				r, in := recs[lsn], set>>(lsn-1)&1 == 1
				switch {
				case in && (r == nil || r.cleaned == 1), !in && r != nil && r.cleaning == 0, !in && lsn == end && r != nil:
					fits = false
				}
				if in {
					found = append(found, has(lsn)...)
				}
			}
			if fits {
				out[fmt.Sprint(found)] = true
			}
		}
	}
	return out
}

// A RecordLog accepts a recovery exactly if an logOracle lists it that tries all.
func TestRecordLogAgainstAnOracle(t *testing.T) {
	yes, no := 0, map[error]int{}
	trial := func(t *rapid.T) {
		window := rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "window")
		l, o := RecordLog{Window: window}, logOracle{window: window}
		var open, live []uint64 // being completed; not cleaned
		next := uint64(1)
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(6, 25).Draw(t, "steps") {
			switch op := rapid.SampledFrom([]string{"put", "put", "put", "complete", "complete", "complete", "complete", "force", "cleaning", "clean", "recover"}).Draw(t, "op"); {
			case op == "put" && next <= 5:
				must(l.Reserve(next))
				must(l.Completing(next, has(next)[0].Data))
				o.events = append(o.events, logEvent{"completing", next})
				open, live = append(open, next), append(live, next)
				next++
			case op == "complete" && len(open) > 0:
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				must(l.Completed(open[i]))
				o.events = append(o.events, logEvent{"completed", open[i]})
				open = slices.Delete(open, i, i+1)
			case op == "force" && len(live) > 0:
				lsn := rapid.SampledFrom(live).Draw(t, "which")
				must(l.Forced(lsn))
				o.events = append(o.events, logEvent{"forced", lsn})
			case (op == "cleaning" || op == "clean") && len(live) > 0:
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				lsn := live[i]
				must(l.Cleaning(lsn))
				o.events = append(o.events, logEvent{"cleaning", lsn})
				if op == "clean" {
					must(l.Cleaned(lsn))
					o.events = append(o.events, logEvent{"cleaned", lsn})
				}
				live = slices.Delete(live, i, i+1)
				open = slices.DeleteFunc(open, func(x uint64) bool { return x == lsn })
			case op == "recover":
				var found []Found
				end := rapid.Uint64Range(0, next-1).Draw(t, "end")
				if w := uint64(window) + 1; w > 1 && next > w && rapid.Bool().Draw(t, "too far") {
					end = next - 1 - w // one more than may be lost, if all are complete
				}
				for lsn := uint64(1); lsn <= end; lsn++ {
					if rapid.IntRange(0, 7).Draw(t, "found") > 0 {
						found = append(found, has(lsn)...)
					}
				}
				want := o.allowed()[fmt.Sprint(found)]
				c := l.Clone()
				err := l.Recovered(found)
				if (err == nil) != want {
					t.Fatalf("%v after %v: got %v, allowed %v", found, o.events, err, want)
				}
				if err != nil {
					if c.Hash() != l.Hash() {
						t.Fatal("a violation changed the log")
					}
					for kind := range recordClasses {
						if errors.Is(err, kind) {
							no[kind]++
						}
					}
					return
				}
				yes++
				next = o.settle(found, next, func() bool { return rapid.Bool().Draw(t, "skip") })
				open, live = nil, nil
				for _, f := range found {
					live = append(live, f.LSN)
				}
			}
		}
	}
	reached := func() bool {
		return yes > 0 && no[ErrLostRecord] > 0 && no[ErrRecordGap] > 0 && no[ErrRecordBack] > 0 && no[ErrWindow] > 0
	}
	for i := 0; i < 30 || i < 1000 && !reached(); i++ { // with -short a check has only 20 trials
		rapid.Check(t, trial)
	}
	if !reached() {
		t.Errorf("%d accepted, refused %v: too few kinds", yes, no)
	}
}

// has reports whether something happened to the record that has an LSN now.
func (o *logOracle) has(op string, lsn uint64) bool {
	for _, e := range slices.Backward(o.events) {
		switch {
		case e == logEvent{op, lsn}:
			return true
		case e == logEvent{"completing", lsn}, e == logEvent{"stays", lsn}, e.op == "found" && e.lsn < lsn:
			return false
		}
	}
	return false
}

// first reports whether all before a record were cleaned up for certain.
func (o *logOracle) first(lsn uint64) bool {
	for i := uint64(1); i < lsn; i++ {
		if !o.has("cleaned", i) && !o.has("gone", i) {
			return false
		}
	}
	return true
}

// settle notes what a recovery has decided, and returns the next LSN.
func (o *logOracle) settle(found []Found, next uint64, skip func() bool) uint64 {
	in := map[uint64]bool{}
	end := uint64(0)
	for _, f := range found {
		in[f.LSN], end = true, f.LSN
	}
	for _, e := range o.events {
		switch w := uint64(o.window); {
		case e.op == "forced":
			end = max(end, e.lsn)
		case e.op == "completing" && w > 0 && e.lsn > w+1:
			end = max(end, e.lsn-w-1)
		}
	}
	has := func(op string) bool { return o.has(op, end+1) }
	for has("cleaned") && o.first(end+1) {
		end++
	}
	settled := end
	for skip() && (has("cleaning") || has("gone")) {
		end++
	}
	for lsn := uint64(1); lsn < next; lsn++ {
		if !in[lsn] && lsn <= end {
			o.events = append(o.events, logEvent{"cleaning", lsn}, logEvent{"gone", lsn})
		}
	}
	for lsn := range in {
		o.events = append(o.events, logEvent{"completed", lsn})
	}
	o.events = append(o.events, logEvent{"found", end}, logEvent{"forced", settled})
	for lsn := range in {
		o.events = append(o.events, logEvent{"stays", lsn})
	}
	return end + 1
}

// Logs with the same future have the same hash.
func TestRecordLogHash(t *testing.T) {
	var a, b, c RecordLog
	for l, trace := range map[*RecordLog][]any{
		&a: {"completed", 1, "forced", 1},
		&b: {"completed", 1, "completed", 2, "found", has(1)},
		&c: {"completed", 1},
	} {
		if err := steps(l, trace...); err != nil {
			t.Fatal(err)
		}
	}
	if a.Hash() != b.Hash() || a.Hash() == c.Hash() {
		t.Error(a.Hash(), b.Hash(), c.Hash())
	}
	if a.Reset(); a.Hash() != new(RecordLog).Hash() {
		t.Error("a log that was reset is not new")
	}
}

func ExampleRecordLog() {
	var l RecordLog
	for lsn, data := range []string{1: "one", 2: "two"} {
		if lsn > 0 {
			_ = l.Reserve(uint64(lsn))
			_ = l.Completing(uint64(lsn), []byte(data))
			_ = l.Completed(uint64(lsn))
		}
	}
	_ = l.Forced(1)
	fmt.Println(l.Clone().Recovered([]Found{{1, []byte("one")}}))
	fmt.Println(l.Recovered(nil))
	// Output:
	// <nil>
	// lost durable record: record 1 was durable, and is not there
}
