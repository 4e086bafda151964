package scenario_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// outcomes returns those of an exhaustive search of a world with one host.
func outcomes(t *testing.T, script func(k *scenario.Kit, h host.Host) (outcome string)) []string {
	t.Helper()
	return verdict(t, world(func(k *scenario.Kit) []sim.Node {
		return []sim.Node{k.Host("app", func(h host.Host) error {
			k.Outcome(script(k, h))
			k.History()
			return nil
		})}
	}), explore.Options{}, explore.Verified, "").Outcomes
}

// At most one of the counted calls fails, whichever; it is carried out or not.
func TestOnce(t *testing.T) {
	for _, x := range []struct {
		once scenario.Once
		want []string
	}{
		{scenario.Once{}, []string{"+++", "++-", "+-+", "-++"}},
		{scenario.Once{Spare: 2}, []string{"+++", "++-"}},
		{scenario.Once{Answers: true, Spare: 1}, []string{"+++", "++-", "++?", "+-+", "+?+"}},
		{scenario.Once{Failed: true}, []string{"+++"}},
	} {
		got := outcomes(t, func(k *scenario.Kit, h host.Host) (seen string) {
			o := x.once
			o.By = h
			for range 3 {
				done := false
				err := o.Do(func() error { done = true; return nil })
				switch {
				case err == nil && done:
					seen += "+"
				case !errors.Is(err, scenario.ErrLost) || !errors.Is(err, coord.ErrUnavailable):
					k.Fail(err)
				case done:
					seen += "?"
				default:
					seen += "-"
				}
			}
			return seen
		})
		slices.Sort(x.want)
		if slices.Sort(got); !slices.Equal(got, x.want) {
			t.Errorf("%+v: %q, want %q", x.once, got, x.want)
		}
	}
}

// Every call passes through, under its name and with its results, unless f blocks it.
func TestAround(t *testing.T) {
	const all = "new session, check session, create, get, set, list, delete, close session"
	got := outcomes(t, func(k *scenario.Kit, h host.Host) string {
		var seen []string
		through := true
		c := scenario.Around(scenario.Dial(h), func(op string, call func() error) error {
			seen = append(seen, op)
			if !through {
				return coord.ErrUnavailable
			}
			return call()
		})
		s, err := c.NewSession()
		k.Check(errors.Join(err, c.CheckSession(s), c.Create("key", []byte("value"), s)))
		value, version, err := c.Get("key")
		next, set := c.Set("key", []byte("next"), version)
		keys, listed := c.List("k")
		k.Check(errors.Join(err, set, listed, c.Delete("key", next), c.CloseSession(s)))
		if !bytes.Equal(value, []byte("value")) || version != 1 || next != 2 || !slices.Equal(keys, []string{"key"}) || s == coord.NoSession {
			k.Failf("wrong", "%q %d %d %q %d", value, version, next, keys, s)
		}
		names := strings.Join(seen, ", ")
		through = false
		if _, err := c.NewSession(); !errors.Is(err, coord.ErrUnavailable) {
			k.Failf("wrong", "%v", err)
		}
		if again, err := scenario.Dial(h).NewSession(); err != nil || again != s+1 {
			k.Failf("wrong", "session %d after %d: %v", again, s, err)
		}
		return names
	})
	if len(got) != 1 || got[0] != all {
		t.Errorf("%q, want %q", got, all)
	}
}

// A call to the controller is lost, or its answer.
func TestLosing(t *testing.T) {
	got := outcomes(t, func(k *scenario.Kit, h host.Host) string {
		o := &scenario.Once{By: h, Answers: true}
		err := o.Losing(scenario.Dial(h)).Create("key", nil, coord.NoSession)
		_, _, found := scenario.Dial(h).Get("key")
		return fmt.Sprint(err == nil, found == nil)
	})
	if slices.Sort(got); !slices.Equal(got, []string{"false false", "false true", "true true"}) {
		t.Errorf("%q", got)
	}
}

// A host lacks one resource, whichever, and what it has released is not in use.
func TestShort(t *testing.T) {
	got := outcomes(t, func(k *scenario.Kit, h host.Host) string {
		s := &scenario.Short{Host: h, Once: &scenario.Once{By: h}}
		lacks, free := setUp(s)
		if lacks == "" && s.InUse() == nil {
			k.Failf("wrong", "nothing is in use")
		}
		for _, f := range slices.Backward(free) {
			k.Check(f())
		}
		k.Check(s.InUse())
		return lacks
	})
	if slices.Sort(got); strings.Join(got, ", ") != "a channel, a domain, a queue, a queue pair, a region, a registration" {
		t.Errorf("%q", got)
	}
}

// Each kind of resource alone is in use, until it is released.
func TestEachKindIsInUse(t *testing.T) {
	for want, take := range map[string]func(h host.Host) (release func() error, err error){
		"1 regions": func(h host.Host) (func() error, error) {
			x, err := h.Alloc(8)
			return x.Free, err
		},
		"1 protection domains": func(h host.Host) (func() error, error) {
			x, err := h.Device().AllocPD()
			return x.Dealloc, err
		},
		"1 channels": func(h host.Host) (func() error, error) {
			x, err := h.Device().CreateCompChannel()
			return x.Destroy, err
		},
	} {
		outcomes(t, func(k *scenario.Kit, h host.Host) string {
			s := &scenario.Short{Host: h, Once: &scenario.Once{By: h, Failed: true}}
			release, err := take(s)
			k.Check(err)
			if err := s.InUse(); err == nil || !strings.Contains(err.Error(), want) {
				k.Failf("wrong", "%v, want %s", err, want)
			}
			k.Check(release())
			k.Check(s.InUse())
			return ""
		})
	}
}

// setUp makes one of everything. It returns what was lacking, and what releases the
// rest.
func setUp(h host.Host) (lacks string, free []func() error) {
	region, err := h.Alloc(8)
	if err != nil {
		return "a region", nil
	}
	free = append(free, region.Free)
	pd, err := h.Device().AllocPD()
	if err != nil {
		return "a domain", free
	}
	free = append(free, pd.Dealloc)
	channel, err := h.Device().CreateCompChannel()
	if err != nil {
		return "a channel", free
	}
	free = append(free, channel.Destroy)
	mr, err := pd.RegisterMR(region, verbs.LocalWrite)
	if err != nil {
		return "a registration", free
	}
	free = append(free, mr.Dereg)
	cq, err := h.Device().CreateCQ(4, channel)
	if err != nil {
		return "a queue", free
	}
	free = append(free, cq.Destroy)
	qp, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq})
	if err != nil {
		return "a queue pair", free
	}
	return "", append(free, qp.Destroy)
}
