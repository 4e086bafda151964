package soft_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
	"github.com/verbatim-rdma/verbatim/verbs/verbstest"
)

// TestVerbs holds the device against the suite that the simulator and cards pass: three
// hosts with a device each, and no difference from the specification.
func TestVerbs(t *testing.T) {
	s := &site{}
	for i := range 3 {
		d, err := soft.Open(soft.Config{Timeout: 400 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		h, err := oshost.New(oshost.Config{Name: fmt.Sprintf("host%d", i), Device: d})
		if err != nil {
			t.Fatal(err)
		}
		s.Links, s.hosts = append(s.Links, d), append(s.hosts, h)
	}
	verbstest.Run(t, verbstest.Backend{Hosts: len(s.hosts), Run: s.run})
}

// site is hosts of this process.
type site struct {
	soft.Links
	hosts []host.Host
}

func (s *site) run(_ *testing.T, try func(verbstest.Site) error) error { return try(s) }

func (s *site) Host(i int) host.Host { return s.hosts[i] }

func (s *site) Do(tasks []verbstest.Task) {
	if len(tasks) == 1 {
		tasks[0].Run()
		return
	}
	var wg sync.WaitGroup
	for _, x := range tasks {
		wg.Go(x.Run)
	}
	wg.Wait()
}
