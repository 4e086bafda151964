package docs

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// unread matches the beginning of a line of Markdown that the generator should have converted: a table, a list, a heading
// or a block of code.
var unread = regexp.MustCompile("(?m)^ *(\\||- |\\* |[0-9]+\\. |#+ |```)")

// sitePage lists the links of a page, the targets for links to it, and its faults.
type sitePage struct {
	links  []string        // links to pages and to places in them
	loads  []string        // files that a browser loads with the page
	places map[string]bool // places in the page that a link can name
	text   []string        // lines that are still Markdown
}

// CheckSite returns the faults of a site: dead links, files that a page would load from the network, and Markdown that
// the generator has not converted.
func CheckSite(site fs.FS) ([]string, error) {
	pages := map[string]*sitePage{}
	var order []string
	err := fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" || name == "404.html" { // the links of 404.html begin at the root of a server
			return err
		}
		f, err := site.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		root, err := html.Parse(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p := &sitePage{places: map[string]bool{}}
		p.read(root)
		pages[name] = p
		order = append(order, name)
		return nil
	})
	var faults []string
	for _, name := range order {
		p := pages[name]
		for _, l := range append(p.links, p.loads...) {
			if what := deadInSite(site, pages, name, l); what != "" {
				faults = append(faults, fmt.Sprintf("%s: there is no %s", name, what))
			}
		}
		for _, l := range p.loads {
			if strings.Contains(l, "//") {
				faults = append(faults, fmt.Sprintf("%s loads %s from the network", name, l))
			}
		}
		for _, line := range p.text {
			faults = append(faults, fmt.Sprintf("%s shows Markdown: %s", name, line))
		}
	}
	return faults, err
}

// read adds the links, places and faults of a node and of the nodes below it.
func (p *sitePage) read(n *html.Node) {
	for _, a := range n.Attr {
		switch {
		case a.Key == "id", a.Key == "name" && n.Data == "a":
			p.places[a.Val] = true
		case a.Key == "href" && n.Data == "a":
			p.links = append(p.links, a.Val)
		case a.Key == "src", a.Key == "href":
			p.loads = append(p.loads, a.Val)
		}
	}
	if n.Type == html.ElementNode && n.Data == "p" {
		text := textOf(n)
		for _, at := range unread.FindAllStringIndex(text, -1) {
			line, _, _ := strings.Cut(text[at[0]:], "\n")
			p.text = append(p.text, line)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.read(c)
	}
}

// textOf returns the text of a paragraph, with an x for each piece of code in it.
func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if n.Data == "code" {
		return "x"
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

// deadInSite returns a link if the site lacks its target, and an empty text otherwise.
func deadInSite(site fs.FS, pages map[string]*sitePage, page, target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	if u.Scheme != "" || u.Host != "" {
		return ""
	}
	file := resolve(page, u.Path)
	if info, err := fs.Stat(site, file); err != nil || info.IsDir() {
		return target
	}
	if p := pages[file]; u.Fragment != "" && (p == nil || !p.places[u.Fragment]) {
		return target
	}
	return ""
}
