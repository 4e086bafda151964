package command

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim/internal/web"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// handFlags are the flags of the command explore.
type handFlags struct {
	opt    explore.Options
	listen string
}

// newExplore returns the command for runs by hand.
func newExplore() *cobra.Command {
	f := &handFlags{}
	c := &cobra.Command{
		Use:   "explore PROTOCOL/SCENARIO|FILE.litmus",
		Short: "Make a run by hand in the browser",
		Long: `Explore serves a page on this machine on which you make a run by hand: you choose the
next event, who crashes and when, and, for the last step, which completion arrived and
what a read of memory returned. The page says what each choice will do, and shows the
run as replay --html does (docs/viewer.md). The run can go on by itself, by some steps
or to the next choice that matters, and a tree shows what was tried. The address of the
page contains the run, so you can save it, or send it to somebody who has the same code.
From any point you can ask the checker to search for a violation.

The server listens on the loopback interface only, accepts no host name except localhost
and 127.0.0.1, and refuses cross-site requests. Ctrl-C stops it.`,
		Example: `  verbatim explore ncl/three-writes
  verbatim explore testdata/litmus/message-passing.litmus --profile relaxed`,
		Args:              cli.Takes("one scenario, or one file with a litmus test", cobra.ExactArgs(1)),
		ValidArgsFunction: completeScenarios,
		RunE:              func(c *cobra.Command, args []string) error { return runExplore(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.opt.Profile, "profile", "", "profile of the cards: a name or a file; default: the scenario's")
	fl.StringVar(&f.opt.Faults, "faults", "", "fault budget, or none; default: the scenario's")
	fl.StringVar(&f.opt.Timers, "timers", "", timersUsage)
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "loopback `address`; port 0 picks a free one")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"profile": cli.CompleteProfile, "faults": completeFaults, "timers": completeTimers})
	return c
}

func runExplore(c *cobra.Command, f *handFlags, name string) error {
	s, judge, err := f.scenario(name)
	if err != nil {
		return err
	}
	if _, err := (explore.Walk{}).Go(s, f.opt); err != nil {
		return err // report the error before a page is opened
	}
	l, err := listenLoopback(f.listen)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	if _, err := fmt.Fprintf(c.OutOrStdout(), "%s: http://%s/ (Ctrl-C stops it)\n", s.Name, l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return web.Serve(ctx, l, newHandServer(s, judge, f.opt, l.Addr()).serve)
}

// scenario returns the scenario that a name or a file selects, and the judge of its final states if
// it is a litmus test.
func (f *handFlags) scenario(name string) (*explore.Scenario, func(final, profile string) []litmus.Judgement, error) {
	if f.opt.Profile != "" {
		p, err := faults.FindProfile(f.opt.Profile)
		if err != nil {
			return nil, nil, err
		}
		f.opt.Profile = p.Name
	}
	if strings.HasSuffix(name, lang.Ext) {
		t, err := litmus.ParseFile(name)
		if err != nil {
			return nil, nil, err
		}
		return litmus.Judged(t)
	}
	found, err := find([]string{name}, false)
	if err != nil {
		return nil, nil, err
	}
	if len(found) != 1 {
		return nil, nil, fmt.Errorf("%s has %d scenarios: name one of %s", name, len(found), cli.List(namesOf(found)))
	}
	return found[0], nil, nil
}

// listenLoopback listens on an address that only this machine reaches.
func listenLoopback(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w; want an address such as 127.0.0.1:8080", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--listen %s: only this machine may reach the page: use 127.0.0.1, [::1] or localhost", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("--listen %s resolves to %s, which is not only this machine", address, l.Addr()), l.Close())
	}
	return l, nil
}
