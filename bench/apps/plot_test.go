package apps

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/bench"
)

// drawn are rows of two applications, with NCL's times or without.
func drawn(backend string) (rows []Row) {
	for _, what := range [][2]string{{Writes, "128 B"}, {Writes, "8192 B"}, {Pebble, "A"}} {
		r := Row{App: what[0], What: what[1], Backend: backend}
		r.fill(&[modes]Times{{Rounds: []float64{40, 80, 120}}, {Rounds: []float64{1, 2, 3}}, {Rounds: []float64{10, 10, 60}}})
		rows = append(rows, r)
	}
	return rows
}

// The drawing is SVG, has a panel for each application and a curve for each mode that
// has times, and is the same each time.
func TestPlot(t *testing.T) {
	for _, backend := range bench.Backends {
		var b, again strings.Builder
		if err := errors.Join(Plot(&b, drawn(backend)), Plot(&again, drawn(backend))); err != nil {
			t.Fatal(err)
		}
		svg := b.String()
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: it is no XML: %v", backend, err)
			}
		}
		for _, want := range []string{"<svg", ">writes<", ">pebble<", ">8192<", ">A<", ">strong<"} {
			if !strings.Contains(svg, want) {
				t.Errorf("%s: %s is missing", backend, want)
			}
		}
		if strings.Contains(svg, ">NCL<") != (backend == bench.RDMA) {
			t.Errorf("%s: a curve of NCL", backend)
		}
		if svg != again.String() {
			t.Errorf("%s: the drawing is another one each time", backend)
		}
	}
	if err := Plot(io.Discard, nil); !errors.Is(err, ErrNoRows) {
		t.Error(err)
	}
}

func TestTicks(t *testing.T) {
	var labels []string
	for _, x := range (ticks{}).Ticks(0.4, 60) {
		labels = append(labels, x.Label)
	}
	if got := strings.Join(labels, " "); got != "0.5 1 2 5 10 20 50" {
		t.Error(got)
	}
}

func TestDescribe(t *testing.T) {
	m := Describe(t.TempDir())
	if m.CPU == "" || m.CPUs < 1 || m.FS == "" || !strings.Contains(m.String(), m.FS) {
		t.Errorf("%+v", m)
	}
	m.Memory = true
	if !strings.Contains(m.String(), "an fsync costs nothing") {
		t.Error(m.String())
	}
}
