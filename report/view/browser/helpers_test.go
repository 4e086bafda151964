package browser_test

import (
	"bytes"
	"testing"

	"github.com/verbatim-rdma/verbatim/report/view"
)

type docEvent = view.Event

func pageSize(t *testing.T, f *found) int {
	t.Helper()
	var b bytes.Buffer
	if err := view.Write(&b, f.doc); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
