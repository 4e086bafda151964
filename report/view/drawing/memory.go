package drawing

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// word is how many bytes a cell has.
const word = 8

// strip is a piece of memory of a host that the requests of the drawing name.
type strip struct {
	host  int
	gone  bool // with its content
	more  bool // there are more cells than maxCells
	cells []cell
}

// cell is a word of memory, and who wrote it: a list of requests, or -1 for none
// in this drawing and -2 for a processor.
type cell struct {
	offset, list int
	glyph        string
}

const (
	nobody    = -1
	processor = -2
)

// maxCells bounds a strip: a drawing is for runs that fit on a page.
const maxCells = 64

// stripsOf returns memory as it is after the event limit.
func stripsOf(d *view.Document, all []moment, limit int) []strip {
	var out []strip
	for i := range d.Regions {
		r := &d.Regions[i]
		named := wordsOf(d, all, i)
		if len(named) == 0 {
			continue
		}
		size := named[len(named)-1] + word
		data, by := make([]byte, size), slices.Repeat([]int{nobody}, size)
		for _, c := range d.Changes {
			if c.Region == i && c.Event <= limit {
				write(data, by, c, listOf(d, all, c.Request))
			}
		}
		s := strip{host: r.Host, gone: r.Gone >= 0 && r.Gone <= limit, more: len(named) > maxCells}
		for _, o := range named[:min(len(named), maxCells)] {
			s.cells = append(s.cells, cell{o, writer(by[o : o+word]), glyph(data[o : o+word])})
		}
		out = append(out, s)
	}
	return out
}

// writer returns the writer of a cell: the latest list that wrote one of its bytes, or a processor if no list did.
func writer(by []int) int {
	if list := slices.Max(by); list >= 0 {
		return list
	}
	return slices.Min(by)
}

// write applies a change to bytes, and to who wrote each.
func write(data []byte, by []int, c view.Change, list int) {
	b, err := hex.DecodeString(c.Data)
	if err != nil {
		return
	}
	for j := range b {
		if o := c.Offset + j; o < len(data) {
			data[o], by[o] = b[j], list
		}
	}
}

// wordsOf returns the offsets of the words of a region that drawn requests name.
func wordsOf(d *view.Document, all []moment, region int) []int {
	var out []int
	for i := range all {
		if all[i].kind != posts {
			continue
		}
		for _, e := range all[i].events {
			if q := d.Events[e].Request; q >= 0 && d.Requests[q].Region == region {
				r := &d.Requests[q]
				for o := r.Offset / word * word; o < r.Offset+r.Length; o += word {
					out = append(out, o)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listOf returns the list of requests that one belongs to.
func listOf(d *view.Document, all []moment, request int) int {
	if request < 0 {
		return processor
	}
	i := slices.IndexFunc(all, func(m moment) bool { return m.kind == posts && slices.Contains(m.events, d.Requests[request].Posted) })
	if i < 0 {
		return nobody
	}
	return all[i].list
}

// glyph is a word in one or two characters: a letter that fills it, or the last digits
// of a number.
func glyph(b []byte) string {
	switch first := b[0]; {
	case strings.Trim(string(b), "\x00") == "":
		return ""
	case strings.Trim(string(b), string(first)) == "" && first > ' ' && first < 0x7f:
		return string(first)
	default:
		return fmt.Sprintf("%02x", first)
	}
}
