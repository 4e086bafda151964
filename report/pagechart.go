package report

import (
	"strconv"

	"github.com/verbatim-rdma/verbatim/internal/number"
)

// figure is a chart on the page, or nothing if there is none.
func figure(c *chart) part {
	if c == nil {
		return nil
	}
	drawn := barTable(c)
	if c.Outline != nil {
		drawn = outlinePart(c)
	}
	return el("figure", el("figcaption", text(c.Title)), drawn)
}

// outlinePart is an outline between its scales, and the numbers folded below it.
func outlinePart(c *chart) part {
	row := func(b bar) part { return el("tr", rowHead(text(b.Name)), numeric(number.Commas(b.Count))) }
	return group(
		el("p", class("axis"), text(c.Outline.Most)),
		el("svg", class("outline"), attr("role", "img"), attr("aria-label", c.Outline.Text),
			attr("viewBox", "0 0 "+strconv.Itoa(c.Outline.Width)+" 1000"), attr("preserveAspectRatio", "none"),
			el("path", attr("d", c.Outline.Path))),
		el("p", class("axis"),
			el("span", text(c.Rows[0].Name)), el("span", text(c.Head[0])), el("span", text(c.Rows[len(c.Rows)-1].Name))),
		folded("The numbers of “"+c.Title+"”",
			table(group(columns(c.Head[0]), numbers(c.Head[1])), each(c.Rows, row))))
}

// barTable is a table with a bar in each row.
func barTable(c *chart) part {
	row := func(b bar) part {
		return el("tr", rowHead(text(b.Name)), numeric(number.Commas(b.Count)),
			el("td", el("svg", class("bar"), attr("aria-hidden", "true"), attr("viewBox", "0 0 1000 1"), attr("preserveAspectRatio", "none"),
				el("rect", attr("width", strconv.FormatUint(b.Length, 10)), attr("height", "1")))))
	}
	return table(group(columns(c.Head[0]), numbers(c.Head[1]), el("td")), each(c.Rows, row))
}
