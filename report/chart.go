package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/verbatim-rdma/verbatim/explore"
)

// scheme is the colours of a chart. One series needs one colour, so that none has to be
// told from another.
type scheme struct{ text, mark, grid color.Color }

var (
	light = scheme{color.RGBA{0x1b, 0x1b, 0x1f, 0xff}, color.RGBA{0x00, 0x54, 0x8a, 0xff}, color.RGBA{0xd9, 0xd9, 0xe0, 0xff}}
	dark  = scheme{color.RGBA{0xec, 0xec, 0xf1, 0xff}, color.RGBA{0x7c, 0xc4, 0xf5, 0xff}, color.RGBA{0x3a, 0x3a, 0x42, 0xff}}
)

const chartWidth = 15 * vg.Centimeter

// depths draws a number for each width depths in a row.
func depths(counts []uint64, width int, unit string, c scheme) (string, error) {
	p := blank(c)
	p.X.Label.Text, p.Y.Label.Text = "steps from the start", unit
	pts := make(plotter.XYs, len(counts))
	for i, n := range counts {
		pts[i] = plotter.XY{X: float64(i*width) + float64(width-1)/2, Y: float64(n)}
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		return "", err
	}
	l.StepStyle, l.FillColor, l.Color = plotter.MidStep, c.mark, c.mark
	p.Add(grid(c), l)
	p.Y.Min, p.X.Min, p.X.Max = 0, 0, max(1, float64(len(counts)*width-1))
	p.Y.Tick.Marker = plot.TickerFunc(commas)
	return svg(p, 5.5*vg.Centimeter)
}

// bars draws a bar for each name, the first on top.
func bars(list []explore.Tally, unit string, c scheme) (string, error) {
	p := blank(c)
	p.X.Label.Text = unit
	values, names := make(plotter.Values, len(list)), make([]string, len(list))
	for i, x := range list {
		at := len(list) - 1 - i
		values[at], names[at] = float64(x.Count), x.Name
	}
	b, err := plotter.NewBarChart(values, 0.45*vg.Centimeter)
	if err != nil {
		return "", err
	}
	b.Horizontal, b.Color, b.LineStyle.Width = true, c.mark, 0
	p.Add(grid(c), b)
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(list))-0.4
	p.X.Min = 0
	p.X.Tick.Marker = plot.TickerFunc(commas)
	return svg(p, vg.Length(len(list))*0.75*vg.Centimeter+1.8*vg.Centimeter)
}

// blank is a chart in the colours of a scheme, without a background of its own.
func blank(c scheme) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	face := font.Font{Typeface: "Liberation", Variant: "Sans"}
	style := func(s *text.Style) {
		s.Color, s.Font = c.text, font.Font{Typeface: face.Typeface, Variant: face.Variant, Size: 9}
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.Color = c.text, c.text
		style(&a.Label.TextStyle)
		style(&a.Tick.Label)
	}
	return p
}

func grid(c scheme) *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = c.grid, c.grid
	return g
}

// commas are the usual ticks at whole numbers, written as the page writes numbers.
func commas(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i := range ticks {
		if v := ticks[i].Value; ticks[i].Label != "" && v >= 0 {
			ticks[i].Label = ""
			if v == float64(uint64(v)) {
				ticks[i].Label = Count(uint64(v))
			}
		}
	}
	return ticks
}

// svg is the address of a chart that holds the chart itself.
func svg(p *plot.Plot, height vg.Length) (string, error) {
	canvas := vgsvg.New(chartWidth, height)
	p.Draw(draw.Crop(draw.New(canvas), 0, -0.7*vg.Centimeter, 0, -0.2*vg.Centimeter))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("report: a chart: %w", err)
	}
	// Where the fonts are missing, others without serifs will do.
	out := strings.ReplaceAll(b.String(), "font-family:Liberation Sans", "font-family:Liberation Sans,DejaVu Sans,Arial,sans-serif")
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(out)), nil
}
