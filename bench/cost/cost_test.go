package cost

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Example computes the abstract's two numbers (6.4.3).
func Example() {
	cells, err := Compute(Paper())
	if err != nil {
		panic(err)
	}
	for _, c := range cells {
		if c.System == "Sift EC + shared" && c.Price == "AWS" {
			fmt.Printf("F=%d saves %.1f%%\n", c.F, 100*(1-c.Relative))
		}
	}
	// Output:
	// F=1 saves 35.1%
	// F=2 saves 56.3%
}

// Figures 9 and 10: all cells, as computed by hand from table 2 and the prices. The paper
// prints four of them: "up to 35%", "about 13% less", "up to 56%" (6.4.3).
func TestFigures9And10(t *testing.T) {
	want := map[string][4]string{ // F=1 on AWS and GCP, F=2 on AWS and GCP
		"Raft-R":           {"1.000", "1.000", "1.000", "1.000"},
		"Sift":             {"1.108", "1.153", "1.045", "1.096"},
		"Sift EC":          {"1.008", "0.974", "0.873", "0.827"},
		"Sift + shared":    {"0.798", "0.872", "0.669", "0.755"},
		"Sift EC + shared": {"0.649", "0.653", "0.437", "0.439"},
	}
	hours := [4]float64{1.320, 1.6464, 2.200, 2.744}
	cells, err := Compute(Paper())
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 20 {
		t.Fatalf("%d cells", len(cells))
	}
	for i, c := range cells {
		if got := c.Thousandths(); got != want[c.System][i%4] {
			t.Errorf("%s, F=%d, %s: %s, want %s", c.System, c.F, c.Price, got, want[c.System][i%4])
		}
		if c.System == "Raft-R" && math.Abs(c.Hour-hours[i%4]) > 1e-9 {
			t.Errorf("Raft-R, F=%d, %s: %v $ an hour, want %v", c.F, c.Price, c.Hour, hours[i%4])
		}
	}
}

// Table 2: the paper's machines, of which the memory is derived.
func TestTable2(t *testing.T) {
	want := map[string]string{
		"Raft-R 1": "[{node 3 {8 64}}]", "Raft-R 2": "[{node 5 {8 64}}]",
		"Sift 1": "[{CPU node 2 {10 32}} {memory node 3 {1 64}}]", "Sift 2": "[{CPU node 3 {10 32}} {memory node 5 {1 64}}]",
		"Sift EC 1": "[{CPU node 2 {12 32}} {memory node 3 {1 32}}]", "Sift EC 2": "[{CPU node 3 {12 32}} {memory node 5 {1 22}}]",
		"Sift + shared 1": "[{CPU node 1.02 {10 32}} {memory node 3 {1 64}}]", "Sift + shared 2": "[{CPU node 1.02 {10 32}} {memory node 5 {1 64}}]",
		"Sift EC + shared 1": "[{CPU node 1.02 {12 32}} {memory node 3 {1 32}}]", "Sift EC + shared 2": "[{CPU node 1.02 {12 32}} {memory node 5 {1 22}}]",
	}
	in := Paper()
	for _, s := range Systems() {
		for _, f := range in.F {
			if got, name := fmt.Sprint(s.nodes(&in, f)), fmt.Sprint(s.Name, " ", f); got != want[name] {
				t.Errorf("%s: %s, want %s", name, got, want[name])
			}
		}
	}
}

// Dearer machines do not make anything cheaper, and what all have in common does not matter.
func TestCostsAreMonotonicInPrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Float64Range(1e-6, 1e3)
		in := Paper()
		in.F = []int{rapid.IntRange(1, MaxF).Draw(t, "F")}
		in.Groups, in.Backups = rapid.IntRange(1, 5000).Draw(t, "groups"), rapid.IntRange(0, 100).Draw(t, "backups")
		a := Price{"a", price.Draw(t, "core"), price.Draw(t, "GB")}
		more := 1 + rapid.Float64Range(0, 10).Draw(t, "more")
		in.Prices = []Price{a, {"b", a.Core * more, a.GB}, {"c", a.Core * more, a.GB * more}}
		cells, err := Compute(in)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(cells); i += 3 {
			x, y, z := cells[i], cells[i+1], cells[i+2]
			if x.Hour > y.Hour || y.Hour > z.Hour || math.Abs(x.Relative-z.Relative) > 1e-9*x.Relative {
				t.Fatalf("%+v\n%+v\n%+v", x, y, z)
			}
		}
	})
}

func TestImpossibleInputIsAnError(t *testing.T) {
	for name, change := range map[string]func(in *Input){
		"no price":          func(in *Input) { in.Prices = nil },
		"a negative price":  func(in *Input) { in.Prices[0].Core = -1 },
		"not a number":      func(in *Input) { in.Prices[1].GB = math.NaN() },
		"without bounds":    func(in *Input) { in.Prices[1].GB = math.Inf(1) },
		"free":              func(in *Input) { in.Prices[0] = Price{"free", 0, 0} },
		"no F":              func(in *Input) { in.F = nil },
		"F of 0":            func(in *Input) { in.F[0] = 0 },
		"F without bounds":  func(in *Input) { in.F[0] = math.MaxInt },
		"no group":          func(in *Input) { in.Groups = 0 },
		"fewer than nobody": func(in *Input) { in.Backups = -1 },
		"a group too many":  func(in *Input) { in.Groups = math.MaxInt },
		"no state":          func(in *Input) { in.State = 0 },
	} {
		in := Paper()
		change(&in)
		if _, err := Compute(in); !errors.Is(err, ErrInput) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The numbers of a put, by arithmetic: 9,240 and 15,400 bytes, so a link of 10 Gb/s carries
// 135,000 and 81,000 puts a second. The messages of Sift are "roughly twice" those of a
// protocol such as Raft (6.4.3).
func TestPutsOfThePaper(t *testing.T) {
	want := map[string]string{
		"Raft-R 1": "4 2040 612745", "Raft-R 2": "8 4080 306372",
		"Sift 1": "9 9240 135281", "Sift 2": "15 15400 81168",
		"Sift EC 1": "9 7704 162253", "Sift EC 2": "15 11990 104253",
	}
	for f := 1; f <= 2; f++ {
		puts := Puts(f, PaperSizes())
		for _, p := range puts {
			if got := fmt.Sprint(p.Requests, p.Bytes, p.Most); got != want[fmt.Sprint(p.System, " ", f)] {
				t.Errorf("%s, F=%d: %s", p.System, f, got)
			}
		}
		if ratio := float64(puts[1].Requests) / float64(puts[0].Requests); ratio < 1.5 || ratio > 2.5 {
			t.Errorf("F=%d: Sift sends %.2f times the messages of Raft-R", f, ratio)
		}
	}
}

// A backup that watches 1000 groups posts 429,000 Reads a second.
func TestWatching(t *testing.T) {
	if got := fmt.Sprintf("%.0f %.0f", Watched(1000, 1), Watched(100, 2)); got != "428571 71429" {
		t.Error(got)
	}
}

// The posts of protocol/sift agree with the arithmetic, except for the 12 bytes by which our log
// entry is longer: it has a term, a length and a checksum. With codes at F=2 a block of 1024
// is not three chunks of whole words, so it has 1032 bytes.
func TestCountedPutsAreThoseOfTheArithmetic(t *testing.T) {
	for f := 1; f <= 2; f++ {
		for _, codes := range []bool{false, true} {
			got, err := Count(f, codes, PaperSizes())
			if err != nil {
				t.Fatal(err)
			}
			s := PaperSizes()
			if codes && f == 2 {
				s.Block, s.Entry = 1032, s.Entry+8
			}
			s.Entry += 12
			i := 1
			if codes {
				i = 2
			}
			if want := Puts(f, s)[i]; got.System != want.System || got.Requests != want.Requests || got.Bytes != want.Bytes {
				t.Errorf("counted %+v, want %+v", got, want)
			}
		}
	}
}

// A put of the store is more than the arithmetic has: it reads the chain of the key, and the number of the
// last operation is an update too. With codes the log has the whole block of each update, whose rest is read
// before. Raft-R sends the messages of the arithmetic, with 146 bytes around key and value.
func TestPutsOfTheStores(t *testing.T) {
	want := map[string]string{
		"Raft-R 1": "4 2340", "Raft-R 2": "8 4680",
		"Sift 1": "13 9480", "Sift 2": "21 15800",
		"Sift EC 1": "18 12600", "Sift EC 2": "29 19480",
	}
	for f := 1; f <= 2; f++ {
		for system, count := range map[string]func() (Put, error){
			"Raft-R":  func() (Put, error) { return CountRaftR(f) },
			"Sift":    func() (Put, error) { return CountStore(f, false) },
			"Sift EC": func() (Put, error) { return CountStore(f, true) },
		} {
			p, err := count()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(p.Requests, p.Bytes); p.System != system || p.F != f || got != want[fmt.Sprint(system, " ", f)] {
				t.Errorf("%s, F=%d: %s; counted as %s", system, f, got, p.System)
			}
		}
	}
}

// A panel for each F, and the same drawing each time.
func TestPlot(t *testing.T) {
	cells, err := Compute(Paper())
	if err != nil {
		t.Fatal(err)
	}
	var b, again strings.Builder
	if err := errors.Join(Plot(&b, cells), Plot(&again, cells)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", ">F=1<", ">F=2<", ">AWS<", ">GCP<", ">Raft-R<", ">Sift EC + shared<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Count(b.String(), ">F=") != 2 || b.String() != again.String() {
		t.Error("the drawing has other panels, or is another one each time")
	}
	if err := Plot(&b, nil); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}
