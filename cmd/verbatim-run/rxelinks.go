package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/litmus/device"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// switched are the links between the devices of scripts/rxe-vm, which has the
// commands rxe-cut and rxe-heal.
type switched struct{ numbers []string }

// rxeLinks returns the links between cards, to be cut.
func rxeLinks(devices []verbs.Device) (device.Links, error) {
	var s switched
	for _, d := range devices {
		n, ok := strings.CutPrefix(d.Attr().Name, "rxe")
		if _, err := strconv.Atoi(n); !ok || err != nil {
			return nil, fmt.Errorf("--cut needs the devices of scripts/rxe-vm, rxe0 and up, not %s", d.Attr().Name)
		}
		s.numbers = append(s.numbers, n)
	}
	if _, err := exec.LookPath("rxe-cut"); err != nil {
		return nil, fmt.Errorf("--cut: %w: it is available in the guest of scripts/rxe-vm", err)
	}
	return s, nil
}

// Cut implements device.Links.
func (s switched) Cut(a, b int) error { return s.run("rxe-cut", a, b) }

// Heal implements device.Links.
func (s switched) Heal(a, b int) error { return s.run("rxe-heal", a, b) }

func (s switched) run(command string, a, b int) error {
	if out, err := exec.Command(command, s.numbers[a], s.numbers[b]).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s %s: %w: %s", command, s.numbers[a], s.numbers[b], err, out)
	}
	return nil
}
