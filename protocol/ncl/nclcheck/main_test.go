package nclcheck_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// The searches of the tests collect garbage as rarely as those of the command do.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
