// Package figure draws figure 8 of Sift's paper from the results of package backups. Only this package needs a library
// for plots.
package figure

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

	"github.com/verbatim-rdma/verbatim/bench/backups"
)

// ErrNothing: there is nothing to draw.
var ErrNothing = errors.New("figure: no points to draw")

// Plot draws the points as figure 8, in SVG: the time added to a fault, by number of backups,
// with a curve for each number of groups. Points of one number of groups must be neighbours.
func Plot(w io.Writer, points []backups.Result) error {
	if len(points) == 0 {
		return ErrNothing
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "backup CPU nodes", "added seconds per fault"
	p.Legend.Top, p.Y.Min = true, 0
	p.Add(plotter.NewGrid())
	for begin, k := 0, 0; begin < len(points); k++ {
		var curve plotter.XYs
		end := begin
		for ; end < len(points) && points[end].Groups == points[begin].Groups; end++ {
			curve = append(curve, plotter.XY{X: float64(points[end].Backups), Y: points[end].Added})
		}
		line, marks, err := plotter.NewLinePoints(curve)
		if err != nil {
			return fmt.Errorf("figure: draw %d groups: %w", points[begin].Groups, err)
		}
		line.Color, marks.Color, marks.Shape = plotutil.Color(k), plotutil.Color(k), plotutil.Shape(k)
		p.Add(line, marks)
		p.Legend.Add(fmt.Sprintf("%d groups", points[begin].Groups), line, marks)
		begin = end
	}
	const width, height = 12 * vg.Centimeter, 8 * vg.Centimeter
	canvas := vgsvg.New(width, height)
	const margin = vg.Centimeter / 4
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	_, err := canvas.WriteTo(w)
	return err
}
