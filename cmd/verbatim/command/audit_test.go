package command

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// hosts is a scenario of hosts that do main.
func hosts(name string, symmetric bool, build func(c *explore.Case) func(h host.Host)) *explore.Scenario {
	return &explore.Scenario{Name: name, Doc: "hosts", Build: func(c *explore.Case) (sim.Config, error) {
		f := build(c)
		main := func(h host.Host, _ int) {
			for range 2 {
				r, err := h.Alloc(8)
				if err != nil {
					panic(err)
				}
				r.Store64(0, 1)
				f(h)
				h.Rand(2)
			}
		}
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget}
		for _, name := range []string{"a", "b", "c"} {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Main: main, Symmetric: symmetric})
		}
		return cfg, nil
	}}
}

func useAudited(t *testing.T) {
	useDemo(t)
	protocols = append(protocols, Protocol{Name: "aud", Scenarios: func() []*explore.Scenario {
		return []*explore.Scenario{
			hosts("aud/good", true, func(*explore.Case) func(host.Host) { return func(host.Host) {} }),
			// State that hosts share and do not report.
			hosts("aud/hidden", false, func(c *explore.Case) func(host.Host) {
				turns := 0
				c.OnReset(func() { turns = 0 })
				return func(h host.Host) {
					if turns++; turns == 5 {
						h.Rand(3)
					}
				}
			}),
			// Hosts that are called interchangeable, and are not.
			hosts("aud/unlike", true, func(c *explore.Case) func(host.Host) {
				return func(h host.Host) {
					if h.Name() == "b" {
						h.Rand(3)
					}
				}
			}),
		}
	}})
}

func TestAudit(t *testing.T) {
	useAudited(t)
	for _, x := range []struct {
		name  string
		fails []string // one of them
	}{
		{"aud/good", nil},
		{"aud/hidden", []string{"commute", "alone", "twins"}},
		{"aud/unlike", []string{"symmetry", "twins"}},
	} {
		code, out, stderr := call("check", x.name, "--audit", "--json")
		var got result
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Audit == nil || len(got.Audit.Claims) != len(audit.Claims) {
			t.Fatalf("%s: %v: %s%s", x.name, err, out, stderr)
		}
		tested, failed := 0, ""
		for _, c := range got.Audit.Claims {
			tested += c.Tested
			if c.Name == "" || c.Holds != (c.Finding == nil) {
				t.Errorf("%s: %+v", x.name, c)
			}
			if !c.Holds && slices.Contains(x.fails, c.Name) {
				failed = c.Name
				if c.Finding.Why == "" || (c.Name == "commute") != (len(c.Finding.Other) == 2) {
					t.Errorf("%s: %+v", x.name, c.Finding)
				}
			}
		}
		_, text, _ := call("check", x.name, "--audit")
		if x.fails == nil {
			if code != 0 || got.Verdict != explore.Verified || tested < 100 || strings.Contains(text, "FAILS") || !strings.Contains(text, "holds       "+audit.Twins) {
				t.Errorf("%s: status %d, %d tests: %s%s", x.name, code, tested, out, text)
			}
			continue
		}
		if code != 3 || got.Verdict != explore.Unknown || got.Reason == nil || got.Exhausted || failed == "" {
			t.Errorf("%s: status %d, and fails %q: %s", x.name, code, failed, out)
		}
		if !strings.Contains(text, "UNKNOWN") || !strings.Contains(text, "  FAILS       ") || !strings.Contains(text, "    after") {
			t.Errorf("%s:\n%s", x.name, text)
		}
		if x.name == "aud/hidden" && (!strings.Contains(text, "    one way") || !strings.Contains(text, "    other")) {
			t.Errorf("%s lacks the orders:\n%s", x.name, text)
		}
	}
}

// A violation remains whatever the result of the audit, and without the flag there is no audit.
func TestAuditLeavesViolations(t *testing.T) {
	useDemo(t)
	code, out, _ := call("check", "demo/restart", "--audit", "--faults", "crash(a)<=1")
	if code != 1 || !strings.Contains(out, "VIOLATED") || !strings.Contains(out, "\n  audit ") {
		t.Errorf("status %d: %s", code, out)
	}
	if _, out, _ = call("check", "demo/restart", "--json"); !strings.Contains(out, `"audit":null`) {
		t.Errorf("got %s", out)
	}
	if code, out, _ = call("check", "demo/restart", "--audit", "--faults", "crash(b)<=1", "--max-runs", "1"); code != 3 || !strings.Contains(out, "it requires a search") {
		t.Errorf("status %d: %s", code, out)
	}
	for args, want := range map[string]string{
		"--audit --strategy random": "--audit tests an exhaustive search",
		"--audit --report r.html":   "cannot be combined",
		"--audit --audit-runs 0":    "at least 1",
	} {
		if code, _, stderr := call(append([]string{"check", "demo"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", args, code, stderr)
		}
	}
}
