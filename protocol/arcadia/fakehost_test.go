package arcadia

import (
	"fmt"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
)

// fhost is a host of persistent memory with a log.
type fhost struct{ *pmemhost.Host }

func newF() *fhost { return &fhost{pmemhost.New()} }

func (h *fhost) open(t testing.TB, ring int) (*Log, *pmemhost.Memory) {
	t.Helper()
	l, err := Open(h, Config{Name: "log", Size: ringAt + ring})
	if err != nil {
		t.Fatal("open:", err)
	}
	return l, h.Memory("log")
}

// power returns the host after a power failure. The words for which keep is true had been evicted from the caches; nil: none.
func (h *fhost) power(keep func(off int) bool) *fhost {
	if keep == nil {
		keep = func(int) bool { return false }
	}
	return &fhost{h.Crash(keep)}
}

// list is what a log returns, as text.
func list(l *Log) (out []string) {
	err := l.Each(func(r *Record, d []byte) error {
		out = append(out, fmt.Sprintf("%d:%s", r.LSN(), d))
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

// put reserves, copies and completes.
func put(t testing.TB, l *Log, s string) *Record {
	t.Helper()
	r, err := l.Reserve(len(s))
	ok(t, err)
	ok(t, r.Copy(0, []byte(s)))
	ok(t, r.Complete())
	return r
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in says whether a word is of the record.
func in(r *Record) func(int) bool {
	return func(o int) bool { return o >= ringAt+r.at && o < ringAt+r.at+footprint(r.size) }
}
