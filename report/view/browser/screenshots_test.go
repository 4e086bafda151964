package browser_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
)

var screenshots = flag.String("screenshots", "", "make the pictures of the documentation in this `folder`, from the root of the repository")

// pictured are the mutants whose counterexamples the documentation shows.
var pictured = []struct {
	protocol string
	names    []string
}{
	{"ncl", []string{"ack-at-f", "no-catch-up", "stamp-before-data"}},
	{"arcadia", []string{"replicas-local-not-flushed"}},
	{"sift", []string{"minority-elects"}},
}

// With -screenshots, TestScreenshots finds the counterexamples of some mutants. It makes a picture
// of each page, and a picture of the beginning of a report.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("it makes pictures if -screenshots names a folder for them")
	}
	for _, p := range pictured {
		t.Run(p.protocol, func(t *testing.T) { picturesOf(t, p.protocol, p.names) })
	}
	t.Run("report", func(t *testing.T) {
		file, _ := reportOf(t, "ncl/three-writes", "ncl/release")
		b := newTab(t, 1440, 900)
		b.run(chromedp.Navigate("file://" + file))
		b.do(`document.querySelector("header code").textContent = "verbatim check ncl/three-writes ncl/release --report report.html --matrix testdata/matrix/ncl.jsonl"`)
		picture(b, filepath.Join("..", "..", "..", *screenshots, "report.png"), eval[int](b, `Math.ceil(document.querySelector(".charts").getBoundingClientRect().bottom + scrollY)`))
	})
}

// picturesOf makes a picture for each of the given mutants of a protocol: its page as it opens.
func picturesOf(t *testing.T, protocol string, names []string) {
	results, err := mutant.Run(context.Background(), mutant.Options{Protocol: protocol, Names: names, NoControl: true, Workers: 1, Out: t.TempDir(), MaxEvents: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range results {
		if x.Err != nil || x.Page == "" {
			t.Fatalf("%s: %s %v", x.Name, x.Verdict(), x.Err)
		}
		b := newTab(t, 1440, 900)
		b.run(chromedp.Navigate("file://" + x.Page))
		b.do(`document.activeElement.blur()`)
		picture(b, filepath.Join("..", "..", "..", *screenshots, "viewer-"+x.Name+".png"), eval[int](b, `Math.ceil(document.documentElement.scrollHeight)`))
	}
}

// picture writes a page from its top on as a file of 256 colours.
func picture(b *tab, name string, height int) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(1440, int64(height)))
	b.do(`scrollTo(0, 0)`)
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		b.t.Fatal(err)
	}
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&out, fewColours(img)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("%s: %d bytes", name, out.Len())
}

// fewColours is an image of its 256 most frequent colours.
func fewColours(img image.Image) image.Image {
	count := map[color.RGBA]int{}
	r := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := at(x, y)
			c.R, c.G, c.B = c.R&^7|4, c.G&^7|4, c.B&^7|4
			count[c]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var p color.Palette
	for _, c := range all[:min(len(all), 256)] {
		if c.R > 250 && c.G > 250 && c.B > 250 {
			c.R, c.G, c.B = 255, 255, 255
		}
		p = append(p, c)
	}
	out, index := image.NewPaletted(r, p), map[color.RGBA]uint8{}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := at(x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(p.Index(c))
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}
