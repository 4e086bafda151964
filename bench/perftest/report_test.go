package perftest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files in testdata are the output of perftest 4.5+0.17 in the virtual machine.
func TestParseReport(t *testing.T) {
	write := Want{Size: 128, Iters: 1000}
	for _, x := range []struct {
		file string
		want Want
		got  Report
		err  string
	}{
		{"ib_write_lat.cycles.txt", write, Report{128, 1000, 209769, 9541157.5, 26406575}, ""},
		{"ib_write_lat.usec.txt", write, Report{128, 1000, 83.85, 136.64, 20609.58}, ""},
		{"ib_read_lat.cycles.txt", Want{Size: 128, Iters: 1000}, Report{128, 1000, 197837, 394083, 5664914}, ""},
		{"ib_atomic_lat.cycles.txt", Want{Iters: 1000}, Report{8, 1000, 181153, 196392, 8638112}, ""},
		{"ib_send_lat.cycles.txt", Want{Size: 128, Iters: 500}, Report{128, 500, 395050, 15043196, 68520228}, ""},
		{"ib_write_bw.txt", Want{Size: 128, Iters: 1000, Rate: true}, Report{128, 1000, 2725, 2725, 2725}, ""},
		{"ib_read_bw.txt", Want{Size: 4096, Iters: 1000, Rate: true}, Report{4096, 1000, 1187, 1187, 1187}, ""},
		{"ib_write_bw.txt", write, Report{}, "there is no t_min"},
		{"ib_write_lat.usec.txt", Want{Size: 64, Iters: 1000}, Report{}, "instead of 64 and 1000"},
		{"ib_write_lat.usec.txt", Want{Size: 128, Iters: 10}, Report{}, "instead of 128 and 10"},
		{"no_server.txt", write, Report{}, "Couldn't connect"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", x.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(string(text), x.want)
		if x.err == "" && (err != nil || got != x.got) {
			t.Errorf("%s: %+v, %v, want %+v", x.file, got, err, x.got)
		}
		if x.err != "" && (!errors.Is(err, Err) || !strings.Contains(err.Error(), x.err)) {
			t.Errorf("%s: %v, want one that says %q", x.file, err, x.err)
		}
	}
}

// Impossible numbers are errors, not results.
func TestParseReportRefuses(t *testing.T) {
	const head = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
	for _, line := range []string{"", "128", "128 1000 1 3", "128 1000 1 3 nan 2", "128 1000 1 3 -2 2", "128 1000 1 3 4 2", "128 1000 3 4 2 2", "128 1000 -3 -1 -2 2",
		"128 1000 0 0 0 0",
		"128 1000 1 inf 2 2", "128.5 1000 1 3 2 2", "128 1e300 1 3 2 2", "128 1000 1 3 two 2", "----"} {
		if r, err := Parse(head+line+"\n", Want{Size: 128, Iters: 1000}); !errors.Is(err, Err) {
			t.Errorf("%q: %+v, %v", line, r, err)
		}
	}
	if r, err := Parse(head+"128 1000 1 3 2 2\n", Want{Size: 128, Iters: 1000}); err != nil || r.Median != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzParseReport(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), 128, 1000)
	}
	f.Fuzz(func(t *testing.T, text string, size, iters int) {
		r, err := Parse(text, Want{Size: size, Iters: iters})
		switch {
		case err != nil && !errors.Is(err, Err):
			t.Error(err)
		case err == nil && !(r.Least > 0 && r.Least <= r.Median && r.Median <= r.Worst && r.Size == size && r.Iters == iters):
			t.Errorf("it took %+v", r)
		}
	})
}
