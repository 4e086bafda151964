package pmemlog_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/pmemlog"
)

// An application appends records of its own making, and reads them after a restart.
func Example() {
	err := on(func(h host.Host) {
		p, err := pmemlog.Create(h, "log", 4096)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Append([]byte("set x=1\n")), p.Append([]byte("set y=2\n")), p.Close())

		p, err = pmemlog.Open(h, "log", 4096)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Tell())
		err = p.Walk(8, func(data []byte) bool {
			fmt.Printf("%q\n", data)
			return true
		})
		fmt.Println(err)
	})
	fmt.Println(err)
	// Output:
	// <nil> <nil> <nil>
	// 16 <nil>
	// "set x=1\n"
	// "set y=2\n"
	// <nil>
	// <nil>
}
