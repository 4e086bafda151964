package report

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// part is a piece of the page: it adds an attribute, a text or elements to the node that
// it is given. A nil part adds nothing. html.Render writes the page and
// escapes all texts and attributes, except the text of a style.
type part func(in *html.Node)

// group is some parts, one after the other.
func group(parts ...part) part {
	return func(in *html.Node) {
		for _, p := range parts {
			if p != nil {
				p(in)
			}
		}
	}
}

// when is some parts, or nothing.
func when(yes bool, parts ...part) part {
	if !yes {
		return nil
	}
	return group(parts...)
}

// each is a part for each element of a list.
func each[T any](list []T, of func(T) part) part {
	var parts []part
	for _, x := range list {
		parts = append(parts, of(x))
	}
	return group(parts...)
}

// inline are the elements that no line break follows in the source of the page.
var inline = map[string]bool{"a": true, "b": true, "br": true, "code": true, "dt": true, "path": true, "rect": true, "span": true, "summary": true, "svg": true, "td": true, "th": true}

// el is an element.
func el(tag string, parts ...part) part {
	return func(in *html.Node) {
		n := &html.Node{Type: html.ElementNode, Data: tag}
		group(parts...)(n)
		in.AppendChild(n)
		if !inline[tag] {
			text("\n")(in)
		}
	}
}

// text is a text, in pieces.
func text(pieces ...string) part {
	return func(in *html.Node) {
		in.AppendChild(&html.Node{Type: html.TextNode, Data: strings.Join(pieces, "")})
	}
}

// attr is an attribute of the element that it is a part of.
func attr(name, value string) part {
	return func(in *html.Node) { in.Attr = append(in.Attr, html.Attribute{Key: name, Val: value}) }
}

func class(name string) part { return attr("class", name) }

func id(name string) part { return attr("id", name) }

// section is a section with a heading. Links find it by its name.
func section(name string, heading part, parts ...part) part {
	return el("section", attr("aria-labelledby", name), el("h2", id(name), heading), group(parts...))
}

// paragraph is a paragraph that is only text.
func paragraph(pieces ...string) part { return el("p", text(pieces...)) }

func code(pieces ...string) part { return el("code", text(pieces...)) }

// table is a table with a row of headings.
func table(headings, rows part, attrs ...part) part {
	return el("table", group(attrs...), el("thead", el("tr", headings)), el("tbody", rows))
}

// columns are the headings of columns, and numbers those of columns with numbers.
func columns(names ...string) part {
	return each(names, func(name string) part { return el("th", attr("scope", "col"), text(name)) })
}

func numbers(names ...string) part {
	return each(names, func(name string) part { return el("th", attr("scope", "col"), class("number"), text(name)) })
}

// rowHead is the cell that names its row.
func rowHead(parts ...part) part { return el("th", attr("scope", "row"), group(parts...)) }

// cell is a cell with a text, and number one with a number.
func cell(pieces ...string) part { return el("td", text(pieces...)) }

func numeric(n string) part { return el("td", class("number"), text(n)) }

// folded is the content that is shown once its summary is clicked.
func folded(summary string, parts ...part) part {
	return el("details", el("summary", text(summary)), group(parts...))
}

// link is a link to a place on the page, or to a file beside it.
func link(to string, parts ...part) part {
	return el("a", attr("href", local(to)), group(parts...))
}

// local is the address of a link. One with a scheme, such as javascript:, with a host or
// with a path from the root leads to the top of the page instead.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || strings.HasPrefix(to, "/") {
		return "#"
	}
	return u.String()
}
