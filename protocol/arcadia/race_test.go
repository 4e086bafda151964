package arcadia_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// Copy, Complete and Force allocate nothing, and Reserve its record and now and then a buffer.
func TestNothingIsAllocated(t *testing.T) {
	h, err := oshost.New(oshost.Config{Name: "a", PMEMDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	var records []*arcadia.Record
	for range 201 {
		r, err := l.Reserve(100)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	data := make([]byte, 100)
	next := 0
	if n := testing.AllocsPerRun(200, func() {
		r := records[next]
		next++
		if err := errors.Join(r.Copy(0, data), r.Complete(), r.Force(1)); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Several goroutines append, read and clean up at the same time, on memory in a file.
func TestTasksAtTheSameTime(t *testing.T) {
	h, err := oshost.New(oshost.Config{Name: "a", PMEMDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: 128 + 4096})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 100 {
				data := fmt.Appendf(nil, "task %d record %d%*s", i, n, (n*7)%40, "")
				r, err := l.Append(data)
				for errors.Is(err, arcadia.ErrFull) { // a busy machine has stopped the task that has the oldest record
					runtime.Gosched()
					r, err = l.Append(data)
				}
				if err != nil {
					t.Error(i, n, err)
					return
				}
				if n%3 == 0 {
					if err := l.Each(func(_ *arcadia.Record, data []byte) error {
						if string(data[:4]) != "task" {
							t.Errorf("%q", data)
						}
						return nil
					}); err != nil {
						t.Error("each", err)
					}
				}
				if err := l.Cleanup(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
