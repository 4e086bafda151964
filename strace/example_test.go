package strace_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/strace"
)

// A program writes two records to its log, makes the second durable, and
// rotates the log.
func ExampleParse() {
	trace := `
openat(AT_FDCWD, "/data/app.log", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3
write(3, "begin\n", 6)                  = 6
write(3, "\x63\x6f\x6d\x6d\x69\x74\12", 7) = 7
fdatasync(3)                            = 0
rename("/data/app.log", "/data/app.log.1") = 0
+++ exited with 0 +++
`
	t, err := strace.Parse(strings.NewReader(trace), strace.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.File)
	for _, op := range t.Ops {
		fmt.Printf("line %d: %s at=%d data=%q to=%q\n", op.Line, op.Kind, op.Offset, op.Data, op.To)
	}
	// Output:
	// /data/app.log
	// line 2: create at=0 data="" to=""
	// line 3: write at=0 data="begin\n" to=""
	// line 4: write at=6 data="commit\n" to=""
	// line 5: sync at=0 data="" to=""
	// line 6: rename at=0 data="" to="/data/app.log.1"
}

// strace shortens data unless it is told not to.
func ExampleParse_shortened() {
	trace := `openat(AT_FDCWD, "/data/app.log", O_WRONLY|O_CREAT, 0644) = 3
write(3, "begin of something lo"..., 4096) = 4096
`
	_, err := strace.Parse(strings.NewReader(trace), strace.Options{})
	fmt.Println(errors.Is(err, strace.ErrTruncatedString))
	fmt.Println(err)
	// Output:
	// true
	// log file "/data/app.log": strace: line 2, column 10: shortened data: strace shows 21 of the 4096 bytes that write wrote; record again with -s 1000000
}
