package browser_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/drawing"
)

// crossed lists the words of a drawing that a line, an arrow's end or the edge of the drawing
// crosses, as the browser has set them. A point of a line every two pixels is enough.
const crossed = `(() => {
  const out = [], all = (s) => [...document.querySelectorAll(s)];
  const points = all("line, path, circle").flatMap((e) => {
    const n = Math.ceil(e.getTotalLength() / 2);
    return Array.from({length: n + 1}, (_, i) => e.getPointAtLength(Math.min(2 * i, e.getTotalLength())));
  });
  const page = document.documentElement.viewBox.baseVal;
  for (const t of all("text")) {
    const b = t.getBBox();
    const over = points.some((p) => p.x > b.x && p.x < b.x + b.width && p.y > b.y && p.y < b.y + b.height);
    if (over || b.x < 0 || b.x + b.width > page.width || b.y + b.height > page.height) out.push(t.textContent);
  }
  return out;
})()`

// No arrow of a drawing crosses a word, in three sets of fonts: in the drawing of the README, and
// in those of whole runs.
func TestNoArrowCrossesAWord(t *testing.T) {
	recorded := stampsCross(t)
	dir := t.TempDir()
	var files []string
	for _, x := range []struct {
		name  string
		d     *view.Document
		until int
	}{
		{"part", recorded.doc, 40},
		{"whole", recorded.doc, 0},
		{"relaxed", find(t, recorded.scenario, explore.Options{Profile: "relaxed"}).doc, 0},
	} {
		var b bytes.Buffer
		if err := drawing.Write(&b, x.d, x.until); err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(dir, x.name+".svg"))
		if err := os.WriteFile(files[len(files)-1], b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := newTab(t, 800, 900)
	for _, file := range files {
		for _, font := range []string{"", "serif", "monospace"} {
			b.run(chromedp.Navigate("file://" + file))
			if font != "" {
				b.do(`document.querySelectorAll("text").forEach((t) => t.style.fontFamily = "` + font + `")`)
			}
			if words := eval[[]string](b, crossed); len(words) > 0 {
				t.Errorf("%s, font %q: crossed or cut: %q", filepath.Base(file), font, words)
			}
		}
	}
}

// No line of a handwritten drawing in docs crosses a word.
func TestNoLineOfAPageCrossesAWord(t *testing.T) {
	images, err := filepath.Abs(filepath.Join("..", "..", "..", "docs", "images"))
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, 800, 900)
	for _, name := range []string{"search-skips.svg", "verdict.svg", "write-path.svg"} {
		if _, err := os.ReadFile(filepath.Join(images, name)); err != nil { // go test caches a result by the files that the test itself reads
			t.Fatal(err)
		}
		for _, font := range []string{"", "serif", "monospace"} {
			b.run(chromedp.Navigate("file://" + filepath.Join(images, name)))
			if font != "" {
				b.do(`document.querySelectorAll("text").forEach((t) => t.style.fontFamily = "` + font + `")`)
			}
			if words := eval[[]string](b, crossed); len(words) > 0 {
				t.Errorf("%s, font %q: crossed or cut: %q", name, font, words)
			}
		}
	}
}
