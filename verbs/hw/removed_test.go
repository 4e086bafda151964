//go:build rdma && rxe

package hw

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Tests under the tag rxe are for the virtual machine of scripts/rxe-vm: they remove links
// of Soft-RoCE and make them again.

// A device whose network interface is removed under load ends every request with an error,
// and then everything can be closed. To the program it is a port that is down. (The kernel
// waits with the removal of the device itself until no process has it open, because rxe
// cannot take it from one, so there is no fatal event here; TestDeathWakes injects one.)
func TestInterfaceRemovedUnderLoad(t *testing.T) {
	names := must[[]string](t)(Devices())
	name := names[len(names)-1]
	netdev := "host" + strings.TrimPrefix(name, "rxe")
	events := make(chan Event, 100)
	d := must[verbs.Device](t)(Open(Config{Device: name, Timeout: 10, Spin: NoSpin, OnEvent: func(e Event) { events <- e }})).(*device)
	removed := make(chan error, 1)
	t.Cleanup(func() { check(t, <-removed) }) // once all is closed
	t.Cleanup(func() { check(t, d.Close()) })
	cfg := verbs.QPConfig{Access: all &^ verbs.LocalWrite}
	a, b := newEnd(t, d, nil, cfg, all), newEnd(t, d, nil, cfg, all)
	connect(t, a, b)
	wrs := []verbs.SendWR{{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 128)}}
	wc := make([]verbs.WC, 4)
	write := func() verbs.Status {
		check(t, a.qp.PostSend(wrs))
		if n, err := a.cq.Wait(wc, patience); n != 1 || err != nil {
			t.Fatalf("%d completions, %v", n, err)
		}
		return wc[0].Status
	}
	for i := 0; ; i++ {
		if s := write(); s != verbs.StatusSuccess {
			t.Logf("request %d ended with %v", i, s)
			break
		}
		if i == 100 {
			go func() {
				out, err := exec.Command("ip", "link", "delete", netdev).CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, out)
				}
				removed <- err
			}()
		}
	}
	if s := write(); s != verbs.StatusWRFlushErr {
		t.Errorf("a request after the failure ended with %v", s)
	}
	if _, err := d.port(); !errors.Is(err, ErrDead) {
		t.Errorf("the port of a device that is going: %v", err)
	}
	for e := range events {
		t.Log(e)
		if e.About == AboutPort && e.Number == 1 {
			break
		}
	}
}
