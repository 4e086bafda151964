package apps

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/verbatim-rdma/verbatim/bench"
)

// ErrNoRows: there is nothing to draw.
var ErrNoRows = errors.New("apps: no rows to draw")

// Sizes of the drawing, one panel for each application.
const (
	panelWidth  = 9.5 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
	margin      = vg.Centimeter / 4
)

// look is a curve: the times of a mode, relative to the weak one.
type look struct {
	name  string
	color color.Color
	shape draw.GlyphDrawer
	of    func(*Row) *bench.Ratio
}

var looks = []look{
	{"strong", color.RGBA{R: 0xb0, G: 0x30, B: 0x20, A: 0xff}, draw.BoxGlyph{}, func(r *Row) *bench.Ratio { return r.StrongByWeak }},
	{"NCL", color.RGBA{R: 0x10, G: 0x50, B: 0xa0, A: 0xff}, draw.CircleGlyph{}, func(r *Row) *bench.Ratio { return r.NCLByWeak }},
}

// Plot draws the rows as SVG: the time of an operation in the other modes relative to
// the weak one, with confidence intervals, on a logarithmic scale.
func Plot(w io.Writer, rows []Row) error {
	if len(rows) == 0 {
		return ErrNoRows
	}
	var panels [][]Row
	for i := range rows {
		if i == 0 || rows[i].App != rows[i-1].App {
			panels = append(panels, nil)
		}
		last := &panels[len(panels)-1]
		*last = append(*last, rows[i])
	}
	canvas := vgsvg.New(vg.Length(len(panels))*panelWidth, panelHeight)
	tiles := draw.Tiles{Cols: len(panels), Rows: 1, PadX: 2 * margin, PadLeft: margin, PadRight: margin, PadTop: margin, PadBottom: margin}
	for i, rows := range panels {
		p, err := panel(rows)
		if err != nil {
			return err
		}
		p.Draw(tiles.At(draw.New(canvas), i, 0))
	}
	_, err := canvas.WriteTo(w)
	return err
}

func panel(rows []Row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = rows[0].App
	p.X.Label.Text = "YCSB workload"
	if rows[0].App == Writes {
		p.X.Label.Text = "bytes of a write"
	}
	p.Y.Label.Text = "time, weak = 1"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ticks{}
	var names []string
	for i := range rows {
		names = append(names, strings.TrimSuffix(rows[i].What, sizeUnit))
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(rows))-0.5
	one := plotter.NewFunction(func(float64) float64 { return 1 })
	one.Color, one.Dashes = color.Gray{Y: 0x80}, []vg.Length{vg.Points(2), vg.Points(2)}
	p.Add(plotter.NewGrid(), one)
	least, most := 1.0, 1.0
	for i := range looks {
		x := looks[i].curve(rows)
		if len(x.XYs) == 0 {
			continue // NCL in the simulator
		}
		if err := x.add(p, &looks[i]); err != nil {
			return nil, err
		}
		for k, e := range x.YErrors {
			least, most = min(least, x.XYs[k].Y-e.Low), max(most, x.XYs[k].Y+e.High)
		}
	}
	p.Legend.Top = true
	p.Y.Min, p.Y.Max = least/1.5, most*2.5 // leaves room for the legend
	return p, nil
}

// curve has the medians and intervals of a mode.
type curve struct {
	plotter.XYs
	plotter.YErrors
}

func (l *look) curve(rows []Row) (c curve) {
	for i := range rows {
		r := l.of(&rows[i])
		if r == nil {
			continue
		}
		low, high := r.Median, r.Median
		if r.Confidence > 0 {
			low, high = r.Low, r.High
		}
		c.XYs = append(c.XYs, plotter.XY{X: float64(i), Y: r.Median})
		c.YErrors = append(c.YErrors, struct{ Low, High float64 }{r.Median - low, high - r.Median})
	}
	return c
}

func (c *curve) add(p *plot.Plot, l *look) error {
	points, err := plotter.NewScatter(c.XYs)
	if err != nil {
		return fmt.Errorf("apps: draw %s: %w", l.name, err)
	}
	points.GlyphStyle = draw.GlyphStyle{Color: l.color, Radius: vg.Points(3), Shape: l.shape}
	bars, err := plotter.NewYErrorBars(c)
	if err != nil {
		return fmt.Errorf("apps: draw %s: %w", l.name, err)
	}
	bars.Color = l.color
	p.Add(bars, points)
	p.Legend.Add(l.name, points)
	return nil
}

// ticks are at 1, 2 and 5 times powers of ten, with their names.
type ticks struct{}

func (ticks) Ticks(least, most float64) (all []plot.Tick) {
	for e := math.Floor(math.Log10(least)); e <= math.Ceil(math.Log10(most)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= least && v <= most {
				all = append(all, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return all
}
