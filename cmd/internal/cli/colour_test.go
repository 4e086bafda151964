package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Only a terminal gets control sequences. Other output may be a file for people to read.
func TestColoursOnlyForTerminals(t *testing.T) {
	text.EnableColors()
	var b strings.Builder
	if got := Coloured(&b, Good, "x"); got != "x" {
		t.Errorf("%q", got)
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if got := Coloured(device, Good, "x"); !strings.HasPrefix(got, "\x1b[") || !strings.Contains(got, "x") {
		t.Errorf("%q", got)
	}
	t.Setenv("NO_COLOR", "0") // any value that is not empty: no-color.org
	if got := Coloured(device, Good, "x"); got != "x" {
		t.Errorf("%q with NO_COLOR", got)
	}
}
