package cost

import (
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrNothing: there is nothing to draw.
var ErrNothing = errors.New("cost: no cells to draw")

// Sizes of the drawing, one panel for each F.
const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
	barWidth    = 3 * vg.Millimeter
	margin      = vg.Centimeter / 4
)

// Plot draws cells as figures 9 and 10, in SVG: a panel for each F, with bars of the costs
// relative to Raft-R. The cells are those of [Compute].
func Plot(w io.Writer, cells []Cell) error {
	var panels []int
	for i, c := range cells {
		if c.System == cells[0].System && (i == 0 || c.F != cells[i-1].F) {
			panels = append(panels, c.F)
		}
	}
	if len(panels) == 0 {
		return ErrNothing
	}
	canvas := vgsvg.New(vg.Length(len(panels))*panelWidth, panelHeight)
	tiles := draw.Tiles{Cols: len(panels), Rows: 1, PadX: 2 * margin, PadLeft: margin, PadRight: margin, PadTop: margin, PadBottom: margin}
	for i, f := range panels {
		p, err := panel(cells, f)
		if err != nil {
			return fmt.Errorf("cost: draw F=%d: %w", f, err)
		}
		p.Draw(tiles.At(draw.New(canvas), i, 0))
	}
	_, err := canvas.WriteTo(w)
	return err
}

// panel has the bars of one F: a group of them for each price.
func panel(cells []Cell, f int) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = fmt.Sprintf("F=%d", f), "cost, Raft-R = 1"
	p.Y.Min, p.Legend.Top = 0, true
	var prices []string
	for k, s := range Systems() {
		var bars plotter.Values
		prices = nil
		for _, c := range cells {
			if c.F == f && c.System == s.Name {
				bars, prices = append(bars, c.Relative), append(prices, c.Price)
			}
		}
		chart, err := plotter.NewBarChart(bars, barWidth)
		if err != nil {
			return nil, err
		}
		chart.Color, chart.Offset = plotutil.Color(k), vg.Length(k-len(Systems())/2)*barWidth
		p.Add(chart)
		p.Legend.Add(s.Name, chart)
	}
	p.NominalX(prices...)
	p.X.Min, p.X.Max = -0.5, float64(len(prices))-0.5
	p.Y.Max *= 1.6 // leaves room for the legend
	return p, nil
}
