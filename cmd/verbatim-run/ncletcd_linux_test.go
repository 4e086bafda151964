package main

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord/etcd/etcdtest"
)

// The ap-map on a real etcd: a file outlives the writer and a kill of etcd, and
// while there is no etcd, a recovery says so.
func TestNCLOnEtcd(t *testing.T) {
	s := etcdtest.Start(t)
	r := newNCLRig(t, "--etcd", s.Endpoint, "--etcd-ttl", "2s")
	access := r.app("wal")
	recovery := func() []string { return strings.Fields("ncl recover" + access) }

	write := program(t, strings.Fields("ncl write --size 4KiB"+access)...)
	write.Stdin = strings.NewReader("one\ntwo\n")
	says(t, write, 0, "open: 0 records, 3 of 3 peers", "ack 2")
	says(t, program(t, strings.Fields("ncl write --size 4KiB --etcd-prefix other/"+r.app("other"))...), 3,
		"too few peers are available: 0 of 3") // they have registered elsewhere
	s.Kill()
	says(t, program(t, strings.Fields("ncl recover --call-timeout 1s"+strings.Replace(access, " --call-timeout 60s", "", 1))...), 3,
		"coord: unavailable", "etcd at "+s.Endpoint)
	s.Restart()
	says(t, program(t, recovery()...), 0, "one\ntwo\n", "2 records", "3 of 3 peers")
	says(t, program(t, append(recovery(), "--release")...), 0, "deleted")
	says(t, program(t, recovery()...), 2, "no such file")
}
