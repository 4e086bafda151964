package logsoak

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// compare checks a recovery against the written, acknowledged and forced records.
func TestCompare(t *testing.T) {
	record := func(lsn int, data string) string { return fmt.Sprintf(`{"lsn":%d,"data":"%s"}`, lsn, data) }
	const a, b, c, x = "YQ==", "Yg==", "Yw==", "eA=="
	for _, tt := range []struct {
		name   string
		dumped []string
		acked  uint64
		forced uint64
		bad    string
	}{
		{"all", []string{record(5, a), record(6, b), record(7, c)}, 7, 7, ""},
		{"one more than was acknowledged", []string{record(5, a), record(6, b)}, 5, 5, ""},
		{"fewer than the frequency are missing", []string{record(5, a)}, 7, 5, ""},
		{"a forced one is missing", []string{record(5, a)}, 6, 6, "record 6 was forced"},
		{"as many as the frequency are missing", []string{record(5, a)}, 9, 5, "4 acknowledged records are missing"},
		{"another content", []string{record(5, a), record(6, x)}, 6, 6, `record 6 is "x"`},
		{"a gap", []string{record(5, a), record(7, c)}, 7, 5, "record 7 is"},
		{"a record that was cleaned up", []string{record(4, a), record(5, a)}, 5, 5, "record 4 is"},
		{"nothing", nil, 7, 7, "record 7 was forced"},
	} {
		program := filepath.Join(t.TempDir(), "dump")
		if err := os.WriteFile(program, []byte("#!/bin/sh\ncat <<'END'\n"+strings.Join(append(tt.dumped, "END"), "\n")+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		s := &soak{cfg: Config{Program: program, Dir: t.TempDir(), Frequency: 4, Patience: time.Minute}, first: 5, acked: tt.acked, forced: tt.forced,
			written: map[uint64]string{5: "a", 6: "b", 7: "c"}}
		err := s.compare(t.Context())
		var loss *LossError
		if tt.bad == "" && err != nil || tt.bad != "" && (!errors.As(err, &loss) || !strings.Contains(loss.Text, tt.bad)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.bad)
		}
	}
	if err := (&Config{}).Validate(); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
