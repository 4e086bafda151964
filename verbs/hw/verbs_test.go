//go:build rdma

package hw_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
	"github.com/verbatim-rdma/verbatim/verbs/verbstest"
)

// TestVerbs runs on real cards the suite that the simulator passes too.
// VERBATIM_RDMA_DEVICES names them, one for each host, separated by commas; the virtual
// machine has no others. With one card all hosts share it.
func TestVerbs(t *testing.T) {
	for _, x := range []struct {
		name string
		cfg  hw.Config
	}{{"spin", hw.Config{}}, {"sleep", hw.Config{Spin: hw.NoSpin}}} {
		t.Run(x.name, func(t *testing.T) {
			s := open(t, x.cfg)
			verbstest.Run(t, verbstest.Backend{Hosts: len(s.hosts), Differs: s.differs(), Run: s.run})
		})
	}
}

// site is the cards of this machine, as if each was in a separate host.
type site struct {
	names []string
	devs  []verbs.Device
	hosts []host.Host
}

// open opens all cards. Without retries it takes 2*4.096 us*2^15 to give up on a peer,
// long enough for a machine that shares its processors.
func open(t *testing.T, cfg hw.Config) *site {
	s := &site{names: deviceNames(t)}
	for _, name := range s.names {
		c := cfg
		c.Device, c.Timeout = name, 15
		d, err := hw.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		s.devs = append(s.devs, d)
	}
	for i := range max(3, len(s.devs)) {
		h, err := oshost.New(oshost.Config{Name: fmt.Sprintf("host%d", i), Device: s.devs[i%len(s.devs)]})
		if err != nil {
			t.Fatal(err)
		}
		s.hosts = append(s.hosts, h)
	}
	return s
}

func deviceNames(t *testing.T) []string {
	for _, name := range []string{"VERBATIM_RDMA_DEVICES", "VERBATIM_RXE_DEVICES", "VERBATIM_RDMA_DEVICE"} {
		if v := os.Getenv(name); v != "" {
			return strings.Split(v, ",")
		}
	}
	names, err := hw.Devices()
	if err != nil || len(names) == 0 {
		t.Skipf("no RDMA device on this machine (%v)", err)
	}
	return names[:1]
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

// Cut and Heal work in the virtual machine only.
func (s *site) Cut(i, j int) error  { return s.link("rxe-cut", i, j) }
func (s *site) Heal(i, j int) error { return s.link("rxe-heal", i, j) }

func (s *site) link(program string, i, j int) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%w: links between cards can be cut in the virtual machine of scripts/rxe-vm only", verbs.ErrUnsupported)
	}
	if i >= len(s.devs) || j >= len(s.devs) {
		return fmt.Errorf("%w: both hosts have the same card, %s", verbs.ErrUnsupported, s.names[0])
	}
	out, err := exec.Command(program, strconv.Itoa(i), strconv.Itoa(j)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %d %d: %w: %s", program, i, j, err, out)
	}
	return nil
}

// differs are the known differences of the cards, which are all of one kind.
func (s *site) differs() []verbstest.Difference {
	if strings.HasPrefix(s.names[0], "rxe") {
		return verbstest.SoftRoCE()
	}
	return nil
}
