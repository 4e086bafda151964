package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// peersFlags are the flags of the command peers.
type peersFlags struct {
	controller      controllerFlags
	host            hostFlags
	collect, asJSON bool
}

// newNCLPeers returns the command that lists the log peers.
func newNCLPeers() *cobra.Command {
	f := &peersFlags{host: hostFlags{name: "operator"}}
	c := &cobra.Command{
		Use:   "peers",
		Short: "List the peers that have registered",
		Long: `Peers lists the log peers that have registered at the controller, with the number of
bytes that each can still lend, as far as the controller knows. A peer that has died is
still listed.

--collect asks each peer to free memory of files that no longer exist, and prints how
many bytes it lends after that.

--json prints one object per line, with the keys name, address, left, and for --collect
lent or error.

Exit status: 0 done, 2 bad usage, 3 the controller does not answer.`,
		Example: "  verbatim-run ncl peers --collect --coord 10.0.0.9:7000",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return ended(runNCLPeers(c, f), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.BoolVar(&f.collect, "collect", false, "free leaked memory")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	fl.StringVar(&f.host.name, "name", f.host.name, "our `name` in certificates")
	f.controller.define(fl)
	f.host.define(fl)
	return c
}

// listedPeer is a line of --json.
type listedPeer struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Left    int    `json:"left"`
	Lent    *int   `json:"lent,omitempty"`
	Error   string `json:"error,omitempty"`
}

func runNCLPeers(c *cobra.Command, f *peersFlags) error {
	if err := f.controller.check(f.host.name); err != nil {
		return err
	}
	h, controller, err := f.controller.open(&f.host, nil, map[string]string{}, c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	peers, err := ncl.Peers(controller)
	if err != nil {
		return f.controller.where(err)
	}
	for _, p := range peers {
		l := listedPeer{Name: p.Name, Left: p.Left}
		switch l.Address, err = addressOf(controller, p.Name); {
		case errors.Is(err, coord.ErrUnavailable):
			return f.controller.where(err)
		case err != nil:
			l.Error = err.Error()
		case p.Err != nil:
			l.Error = p.Err.Error()
		case f.collect:
			f.take(h, &l)
		}
		if err := f.print(c.OutOrStdout(), &l); err != nil {
			return err
		}
	}
	return nil
}

// take makes a peer collect.
func (f *peersFlags) take(h host.Host, l *listedPeer) {
	lent, err := ncl.Collect(h, l.Name, f.controller.callTimeout)
	if err != nil {
		l.Error = err.Error()
		return
	}
	l.Lent = &lent
}

func (f *peersFlags) print(w io.Writer, l *listedPeer) error {
	if f.asJSON {
		return cli.Lines(w).Encode(l)
	}
	text := fmt.Sprintf("%s at %s has %d bytes left to lend", l.Name, l.Address, l.Left)
	if l.Lent != nil {
		text += fmt.Sprintf(", and lends %d", *l.Lent)
	}
	if l.Error != "" {
		text += ": " + l.Error
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
