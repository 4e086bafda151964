package lint

import (
	"slices"
	"strings"
)

// base is the name of the layers in [below] in the tables of pages.
const base = "the base"

// packageTable returns the table of layers for a page in docs: of those that other modules can
// import, or of all with what they may import.
func packageTable(whole bool) string {
	var b strings.Builder
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	if whole {
		row("package", "holds", "may import")
		b.WriteString("|---|---|---|\n")
	} else {
		row("package", "holds")
		b.WriteString("|---|---|\n")
	}
	for i := range layers {
		l := &layers[i]
		holds := l.holds
		if l.page != "" {
			holds += ": [" + l.page + "](" + l.page + ".md)"
		}
		switch public := l.public(); {
		case whole:
			row(codes(l.at), holds, l.imports())
		case len(public) > 0:
			row(codes(public), holds)
		}
	}
	if whole {
		b.WriteString("\nThe base is " + folders(below) + ".\n")
	}
	return b.String()
}

// public returns the folders of a layer that other modules can import, and commands.
func (l *layer) public() []string {
	return slices.DeleteFunc(slices.Clone(l.at), func(at string) bool { return slices.Contains(strings.Split(at, "/"), "internal") })
}

// imports lists what packages of the layer may import besides the standard library.
func (l *layer) imports() string {
	may := l.may
	var out []string
	if !slices.ContainsFunc(below, func(name string) bool { return !slices.Contains(may, name) }) {
		out = append(out, base)
		may = slices.DeleteFunc(slices.Clone(may), func(name string) bool { return slices.Contains(below, name) })
	}
	if len(may) > 0 {
		out = append(out, folders(may))
	}
	switch {
	case slices.Contains(l.modules, "*"):
		out = append(out, "any module")
	case len(l.modules) > 0:
		out = append(out, codes(l.modules))
	case len(out) == 0:
		out = append(out, "nothing")
	}
	return strings.Join(out, ", ")
}

// folders are the folders of some layers.
func folders(names []string) string {
	var out []string
	for _, name := range names {
		i := slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
		out = append(out, layers[i].at...)
	}
	return codes(out)
}

// codes sets names as code; x/... is x with what is below it.
func codes(names []string) string {
	var out []string
	for _, name := range names {
		out = append(out, "`"+strings.TrimSuffix(name, "/...")+"`")
	}
	return strings.Join(out, ", ")
}
