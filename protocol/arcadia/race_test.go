package arcadia_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

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
				r, err := l.Append(fmt.Appendf(nil, "task %d record %d%*s", i, n, (n*7)%40, ""))
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
