package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// A second instance, and a second peer of a name, are told by which flags to get along.
func TestSecondIsToldTheFlags(t *testing.T) {
	_, addr := served(t, "ncl", "coord", "--listen", "127.0.0.1:0")
	h, err := oshost.New(oshost.Config{Name: "app", Peers: map[string]string{coordName: addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c := coord.NewClient(h, coordName, coordName)
	app := appFlags{}
	cfg := ncl.Config{App: "app", Coord: c}
	i, err := app.start(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	_, err = app.start(h, cfg)
	saysThat(t, err, ncl.ErrRunning, "an instance of the application is running", "did not exit within 0s (--wait)", "(--app)")

	peer := peerFlags{host: hostFlags{name: "app"}}
	lost := func(err error) { t.Error(err) }
	n, err := peer.hold(h, c, "a:1", lost)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	_, err = peer.hold(h, c, "b:1", lost)
	saysThat(t, err, cluster.ErrTaken, "lives at a:1, and this one is at b:1", "another --name", "--wait (0s)")
	if _, err := addressOf(c, "nobody"); !errors.Is(err, coord.ErrNotFound) || !strings.Contains(err.Error(), "neither the controller nor --peer has an address for nobody") {
		t.Error(err)
	}
	if at, err := addressOf(c, "app"); at != "a:1" || err != nil {
		t.Error(at, err)
	}
}

func saysThat(t *testing.T, err, is error, words ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("%v is no %v", err, is)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
}
