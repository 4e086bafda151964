package arcadia

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
	"github.com/verbatim-rdma/verbatim/model"
)

var (
	histories = flag.Int("histories", 3000, "how many random histories")
	seed      = flag.Uint64("seed", 1, "the first seed")
)

type crash struct{}
type fmutex struct{}

func (fmutex) Lock()   {}
func (fmutex) Unlock() {}

type fcond struct{}

func (fcond) Wait()      { panic("would wait for ever") }
func (fcond) Signal()    {}
func (fcond) Broadcast() {}

// shost is a host of one task: it never waits.
type shost struct{ *pmemhost.Host }

func (shost) NewMutex() host.Mutex         { return fmutex{} }
func (shost) NewCond(host.Mutex) host.Cond { return fcond{} }

// history is a random life of a log, and what is reported of it.
type history struct {
	r     *rand.Rand
	h     shost
	ring  int
	log   *Log
	model model.RecordLog
	n     int // contents
	// open are records that are reserved, and live those that are complete.
	open, live []*Record
	trace      []string
}

func (x *history) say(f string, a ...any) { x.trace = append(x.trace, fmt.Sprintf(f, a...)) }

// guarded runs f until it ends or the process crashes, after at most so many stores and flushes; 0: it does not.
func (x *history) guarded(after int, f func() error) (crashed bool, err error) {
	x.h.After(after, func() { panic(crash{}) })
	defer func() {
		x.h.After(0, nil)
		if v := recover(); v != nil {
			if _, is := v.(crash); !is {
				panic(v)
			}
			crashed = true
		}
	}()
	return false, f()
}

// often is a number up to n, or with one chance in two 0.
func (x *history) often(n int) int { return x.r.IntN(2) * (1 + x.r.IntN(n)) }

func (x *history) recover() error {
	var err error
	if x.log, err = Open(x.h, Config{Name: "log", Size: ringAt + x.ring}); err != nil {
		return err
	}
	var found []model.Found
	err = x.log.Each(func(r *Record, d []byte) error {
		found = append(found, model.Found{LSN: r.LSN(), Data: bytes.Clone(d)})
		return nil
	})
	if err != nil {
		return err
	}
	x.say("open: %v, epoch %d from %d, head %d", found, x.log.super.epoch, x.log.super.since, x.log.super.head)
	x.open, x.live = nil, nil
	for _, r := range x.log.records {
		if !r.cleaned {
			x.live = append(x.live, r)
		}
	}
	return x.model.Recovered(found)
}

func (x *history) step() error {
	switch op := x.r.IntN(10); {
	case op < 4:
		r, err := x.log.Reserve([]int{0, 8, 8, 8, 16, 24, 40, 3, 13}[x.r.IntN(9)])
		if err != nil {
			return nil // it is full
		}
		x.say("reserve %d, %d bytes at %d", r.lsn, r.size, r.at)
		x.open = append(x.open, r)
		return x.model.Reserve(r.lsn)
	case op < 7 && len(x.open) > 0:
		return x.complete(x.take(&x.open))
	case op == 7 && len(x.live) > 0:
		r := x.live[x.r.IntN(len(x.live))]
		for _, o := range x.open {
			if o.lsn < r.lsn {
				return nil // it would wait
			}
		}
		x.say("force %d", r.lsn)
		if err := r.Force(1); err != nil {
			return err
		}
		return x.model.Forced(r.lsn)
	case op == 8 && len(x.live) > 0:
		return x.cleanup(x.take(&x.live))
	case op == 9 && len(x.open) == 0 && x.r.IntN(4) == 0:
		x.say("cleanup of all")
		x.model.CleaningAll()
		if err := x.log.CleanupAll(); err != nil {
			return err
		}
		x.model.CleanedAll()
		x.live = nil
	}
	return nil
}

// take takes one of some records.
func (x *history) take(of *[]*Record) *Record {
	i := x.r.IntN(len(*of))
	r := (*of)[i]
	*of = append((*of)[:i:i], (*of)[i+1:]...)
	return r
}

func (x *history) complete(r *Record) error {
	x.n++
	d := []byte(strings.Repeat(fmt.Sprintf("%08d", x.n), 6))[:r.size]
	x.say("complete %d as %s", r.lsn, d)
	err := x.model.Completing(r.lsn, d)
	if err == nil {
		err = r.Copy(0, d)
	}
	if err == nil {
		err = r.Complete()
	}
	if err != nil {
		return err
	}
	x.live = append(x.live, r)
	return x.model.Completed(r.lsn)
}

func (x *history) cleanup(r *Record) error {
	x.say("cleanup %d", r.lsn)
	if err := x.model.Cleaning(r.lsn); err != nil {
		return err
	}
	if err := x.log.Cleanup(r); err != nil {
		return err
	}
	return x.model.Cleaned(r.lsn)
}

// fail is a crash of the process, or power, of which any words in the cache survive: by chance, whole lines, or
// all but one word of some headers.
func (x *history) fail() {
	evicted := func(keep func(off int) bool) { x.h = shost{x.h.Crash(keep)} }
	switch k := x.r.IntN(5); x.r.IntN(4) {
	case 0:
		x.say("the process crashes")
		return
	case 1:
		lines := map[int]bool{}
		evicted(func(o int) bool {
			if _, ok := lines[o/64]; !ok {
				lines[o/64] = x.r.IntN(4) < k
			}
			return lines[o/64]
		})
	case 2:
		evicted(func(int) bool { return x.r.IntN(4) < k })
	case 3:
		lost := map[int]bool{}
		for i := 0; x.log != nil && i < len(x.log.records); i++ {
			lost[ringAt+x.log.records[i].at+8*x.r.IntN(12)] = true // of the header in one of four
		}
		evicted(func(o int) bool { return !lost[o] })
	}
	x.say("power fails")
}

func (x *history) run() error {
	for range 7 {
		crashed, err := x.guarded(x.often(30)*x.r.IntN(2), x.recover)
		if err == nil && !crashed {
			_, err = x.guarded(x.often(200), func() error {
				for range 3 + x.r.IntN(25) {
					if err := x.step(); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return err
		}
		x.fail()
	}
	return nil
}

// Whatever a task does, wherever the process crashes or power fails, and whatever of the cache survives, each recovery
// is one that the model allows.
func TestRandomHistories(t *testing.T) {
	for s := *seed; s < *seed+uint64(*histories); s++ {
		x := &history{r: rand.New(rand.NewPCG(s, 1)), h: shost{pmemhost.New()}}
		x.ring = 24*x.r.IntN(3) + 8*(12+x.r.IntN(14))
		if err := x.run(); err != nil {
			t.Fatalf("go test ./protocol/arcadia -run TestRandomHistories -seed %d -histories 1: %v\n%s", s, err, strings.Join(x.trace, "\n"))
		}
	}
}
