package flex_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/flex"
)

// An application appends records, and finds them after a restart.
func Example() {
	err := on(func(h host.Host) {
		l, err := flex.Open(h, "log", 4096)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l.Append([]byte("set x=1")), l.Append([]byte("set y=2")), l.Close())

		if l, err = flex.Open(h, "log", 4096); err != nil {
			fmt.Println(err)
			return
		}
		err = l.Each(func(data []byte) error {
			fmt.Printf("%q\n", data)
			return nil
		})
		fmt.Println(err)
	})
	fmt.Println(err)
	// Output:
	// <nil> <nil> <nil>
	// "set x=1"
	// "set y=2"
	// <nil>
	// <nil>
}
