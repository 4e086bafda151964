package table1check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// closed is a design whose logs can be created, and never be opened again once a record has been forced.
func closed(d design) design {
	open := d.open
	d.open = func(h host.Host, again bool) (log, error) {
		if !again {
			return nil, arcadia.ErrUnavailable
		}
		return open(h, again)
	}
	return d
}

// A design whose logs can never be opened again survives nothing, whatever its error says.
func TestNoFailureExcusesThatNoLogIsOpenedAgain(t *testing.T) {
	for _, s := range []*explore.Scenario{node(closed(moving)), partition(closed(moving)), media(closed(staying)), unreadable(closed(staying)), power(closed(staying))} {
		r, err := explore.Check(s, explore.Options{NoShrink: true})
		if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != Unavailable {
			t.Errorf("%s: %v %+v", s.Name, err, r)
		}
	}
}

// A search that never saw a recovery find a forced record decides nothing, though it was exhausted.
func TestACellThatNeverMetItsConditionIsUnknown(t *testing.T) {
	s := power(pmdk)
	s.Sometimes = []string{sawForced, sawBack} // a log without copies meets only the first
	cells, err := Fill([]Row{{PMDK, Power, Survives, Survives, s}}, explore.Options{Faults: "power(app)<=1"}, "")
	if err != nil || cells[0].Mark != Unknown || !strings.HasSuffix(cells[0].Reason, sawBack) {
		t.Errorf("%v %+v", err, cells)
	}
}

// Every cell that survives has seen a recovery find a forced record.
func TestSurvivorsMustSeeARecovery(t *testing.T) {
	for _, s := range expected(Survives) {
		if !slices.Contains(s.Sometimes, sawForced) {
			t.Errorf("%s need not recover anything", s.Name)
		}
	}
}

// mute is a design whose copies serve nobody once their host has come back with a copy.
func mute(d design) design {
	serve := d.serve
	d.serve = func(h host.Host) error {
		region, err := h.OpenPMEM("log", arcadia.MinSize-32+2*(24+recordSize))
		if err != nil {
			return err
		}
		if region.Load64(0) == 0 {
			return errors.Join(region.Free(), serve(h))
		}
		calls, err := h.Listen("nothing")
		if err != nil {
			return err
		}
		_, err = calls.Accept(verbs.Forever)
		return err
	}
	return d
}

// That the host of a copy has failed before does not excuse a recovery that fails although the host is up again.
func TestOnlyAHostThatIsDownIsAnExcuse(t *testing.T) {
	r, err := explore.Check(power(mute(staying)), explore.Options{NoShrink: true})
	if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != Unavailable {
		t.Errorf("%v %+v", err, r)
	}
}
