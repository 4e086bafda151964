package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// severed is a host that a test cuts off from others: calls to them fail, and so do connections to their memory.
// It needs a software device.
type severed struct {
	host.Host
	mu  sync.Mutex
	off map[string]bool
	at  map[string]verbs.Endpoint // the endpoints of other hosts' memory
}

func newSevered(h host.Host) *severed {
	return &severed{Host: h, off: map[string]bool{}, at: map[string]verbs.Endpoint{}}
}

// obey cuts and heals links as the lines request: `cut NAME` and `heal NAME`.
func (s *severed) obey(orders io.Reader) error {
	lines := bufio.NewScanner(orders)
	for lines.Scan() {
		verb, name, _ := strings.Cut(lines.Text(), " ")
		if verb != "cut" && verb != "heal" {
			return fmt.Errorf("--cuts: %q: want cut NAME or heal NAME", lines.Text())
		}
		if err := s.set(name, verb == "cut"); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (s *severed) set(name string, cut bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off[name] = cut
	if at, ok := s.at[name]; ok {
		return soft.Cut(s.Device(), at, cut)
	}
	return nil
}

// Gather calls the hosts from which it is not cut off. CPU nodes make no other calls.
func (s *severed) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := make([]string, len(calls))
	calls = slices.Clone(calls)
	for i := range calls {
		if to[i] = calls[i].To; s.off[to[i]] {
			calls[i].To = "" // nobody
		}
	}
	return &answers{s.Host.Gather(calls, timeout), s, to}
}

// answers are the answers to calls; they contain the endpoints of the other hosts.
type answers struct {
	host.Gather
	s  *severed
	to []string
}

func (a *answers) Wait(need int) []host.Answer {
	out := a.Gather.Wait(need)
	for i := range out {
		if out[i].Body != nil {
			a.s.met(a.to[i], &out[i])
		}
	}
	return out
}

// met records the address of a host, from its answer, and refuses an answer that arrives after a cut.
func (s *severed) met(name string, answer *host.Answer) {
	var at verbs.Endpoint
	if len(answer.Body) < verbs.EndpointSize || at.UnmarshalBinary(answer.Body[:verbs.EndpointSize]) != nil { // a greeting begins with the endpoint
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[name] = at
	if s.off[name] {
		*answer = host.Answer{Err: host.ErrUnreachable}
	}
}
