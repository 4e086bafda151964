package mutant

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/mutant/schema"
)

// together is one source tree with many mutants, so that they are built once: compilation takes most
// of the time of a mutant. A function that mutants change has a version for the unmodified code and
// one for each of these mutants. A function with its name calls the version of the active mutant, as
// in the programs of package schema.
type together struct {
	files  map[string][]byte
	number map[string]int // of a mutant, by its name; one that has none must be built alone
}

// errAlone: a mutant changes code that a program cannot contain in two versions.
var errAlone = errors.New("it must be built separately")

// merge merges as many mutants as possible into one tree. Errors of the others show when they are
// built separately.
func merge(root string, todo []*Mutant) *together {
	t := &together{files: map[string][]byte{}, number: map[string]int{}}
	trees := map[string]*tree{}
	for i, m := range todo {
		after, changed, err := changesOf(root, m, trees)
		if err != nil {
			continue
		}
		t.number[m.Name] = i + 1
		for _, name := range slices.Sorted(maps.Keys(after)) {
			trees[name].add(i+1, after[name], changed[name])
		}
	}
	for name, x := range trees { //lint:ordered each goes to a place of its own
		if len(x.variants) > 0 {
			t.files[name] = x.source()
			t.files[path.Join(path.Dir(filepath.ToSlash(name)), "mutant_on.go")] = x.switchFile()
		}
	}
	return t
}

// changesOf returns the files as a mutant changes them, and the names of the changed functions.
func changesOf(root string, m *Mutant, trees map[string]*tree) (after map[string][]byte, changed map[string][]string, err error) {
	if after, err = m.apply(root); err != nil {
		return nil, nil, err
	}
	changed = map[string][]string{}
	if slices.ContainsFunc(slices.Collect(maps.Keys(after)), func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		return nil, nil, errAlone // go test would run every version of a test function
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if trees[name] == nil {
			if trees[name], err = readTree(filepath.Join(root, name)); err != nil {
				return nil, nil, err
			}
		}
		if changed[name], err = trees[name].changes(after[name]); err != nil {
			return nil, nil, err
		}
	}
	return after, changed, nil
}

// tree is an unmodified file, with the versions of its functions in mutants.
type tree struct {
	text     []byte
	file     *ast.File
	decls    map[string]*ast.FuncDecl
	order    []string // the names of the functions, in the order of the file
	rest     string   // all but the functions and the imports, with comments and directives
	effects  []string // imports that make a difference to a package that does not name them
	variants map[string][]int
	added    bytes.Buffer
	imports  []string // that some version needs but the file lacks
}

func readTree(name string) (*tree, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseTree(text)
}

func parseTree(text []byte) (*tree, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	x := &tree{text: text, file: file, decls: map[string]*ast.FuncDecl{}, variants: map[string][]int{}}
	var rest strings.Builder
	at := 0
	leave := func(d ast.Decl, instead string) {
		rest.WriteString(string(x.text[at:d.Pos()-1]) + instead)
		at = int(d.End() - 1)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if mayStandBeside(d) {
				name := x.nameOf(d)
				x.decls[name], x.order = d, append(x.order, name)
				leave(d, "func "+name)
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				leave(d, "import")
			}
		}
	}
	for _, i := range file.Imports {
		if i.Path.Value == `"C"` || i.Name != nil && (i.Name.Name == "_" || i.Name.Name == ".") {
			x.effects = append(x.effects, x.of(i))
		}
	}
	x.rest = rest.String() + string(text[at:])
	return x, nil
}

// of returns the text of a node. The file set holds one file, so that positions are offsets, from 1.
func (x *tree) of(n ast.Node) string { return string(x.text[n.Pos()-1 : n.End()-1]) }

// nameOf returns the name of a function, with the type of its receiver.
func (x *tree) nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return x.of(d.Recv.List[0].Type) + "." + d.Name.Name
}

// changes returns the functions that differ in another version of the file. Its error is
// errAlone if there is any other difference.
func (x *tree) changes(text []byte) (names []string, err error) {
	y, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	if x.rest != y.rest || !slices.Equal(x.effects, y.effects) {
		return nil, errAlone
	}
	for _, name := range x.order {
		before, after := x.decls[name], y.decls[name]
		if x.of(before) == y.of(after) {
			continue
		}
		if x.signature(before) != y.signature(after) || watchesItsCaller(x.of(before)) || watchesItsCaller(y.of(after)) {
			return nil, errAlone
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, errAlone // the mutant changes something else, which would be lost
	}
	return names, nil
}

// signature returns the types of a function's parameters and results.
func (x *tree) signature(d *ast.FuncDecl) string {
	out := ""
	for _, list := range []*ast.FieldList{d.Type.TypeParams, d.Type.Params, d.Type.Results} {
		for i := range list.NumFields() {
			out += x.of(typeAt(list, i)) + ", "
		}
		out += "; "
	}
	return out
}

// typeAt returns the type of parameter i of a list, in which several may share one.
func typeAt(list *ast.FieldList, i int) ast.Expr {
	for _, f := range list.List {
		if i -= max(1, len(f.Names)); i < 0 {
			return f.Type
		}
	}
	return nil
}

// mayStandBeside reports whether another version of a function can be called in its place.
func mayStandBeside(d *ast.FuncDecl) bool {
	if d.Type.TypeParams != nil || d.Body == nil || slices.Contains([]string{"init", "main", "_"}, d.Name.Name) {
		return false
	}
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	_, plain := t.(*ast.Ident) // and not a generic type
	return plain
}

// watchesItsCaller reports whether an additional call in between can affect a function.
func watchesItsCaller(text string) bool {
	return strings.Contains(text, "recover()") || strings.Contains(text, "runtime.Caller")
}

// add notes the versions of functions that a mutant has.
func (x *tree) add(number int, text []byte, names []string) {
	y, err := parseTree(text)
	if err != nil {
		panic(err) // changes has parsed it
	}
	for _, i := range y.file.Imports {
		have := func(j *ast.ImportSpec) bool { return x.of(j) == y.of(i) }
		if !slices.ContainsFunc(x.file.Imports, have) && !slices.Contains(x.imports, y.of(i)) {
			x.imports = append(x.imports, y.of(i))
		}
	}
	for _, name := range names {
		x.variants[name] = append(x.variants[name], number)
		fmt.Fprintf(&x.added, "\n%s\n", y.renamed(y.decls[name], suffix(number)))
	}
}

func suffix(number int) string { return fmt.Sprintf("__%d", number) }

// renamed returns the text of a function with a suffix added to its name.
func (x *tree) renamed(d *ast.FuncDecl, suffix string) string {
	at := d.Name.End() - 1
	return string(x.text[d.Pos()-1:at]) + suffix + string(x.text[at:d.End()-1])
}

// source returns the file with all versions in it.
func (x *tree) source() []byte {
	var out bytes.Buffer
	at := x.file.Name.End() - 1
	out.Write(x.text[:at])
	for _, i := range x.imports {
		fmt.Fprintf(&out, "\n\nimport %s", i)
	}
	for _, name := range x.order {
		if len(x.variants[name]) > 0 {
			end := x.decls[name].Name.End() - 1
			out.Write(x.text[at:end])
			out.WriteString(suffix(0))
			at = end
		}
	}
	out.Write(x.text[at:])
	for _, name := range x.order {
		if len(x.variants[name]) > 0 {
			x.choose(&out, x.decls[name], x.variants[name])
		}
	}
	out.Write(x.added.Bytes())
	return out.Bytes()
}

// choose writes the function that calls the version of the active mutant.
func (x *tree) choose(out *bytes.Buffer, d *ast.FuncDecl, numbers []int) {
	var params, args []string
	for i := range d.Type.Params.NumFields() {
		t, arg := typeAt(d.Type.Params, i), fmt.Sprintf("a%d__", i)
		params = append(params, arg+" "+x.of(t))
		if _, variadic := t.(*ast.Ellipsis); variadic {
			arg += "..."
		}
		args = append(args, arg)
	}
	receiver, of := "", ""
	if d.Recv != nil {
		receiver, of = "(r__ "+x.of(d.Recv.List[0].Type)+") ", "r__." // results may have any name
	}
	results, call, end := "", "return ", ""
	if d.Type.Results != nil {
		results = " " + x.of(d.Type.Results)
	} else {
		call, end = "", "\n\t\treturn"
	}
	call += of + d.Name.Name
	with := "(" + strings.Join(args, ", ") + ")"
	fmt.Fprintf(out, "\nfunc %s%s(%s)%s {\n\tswitch mutantOn {\n", receiver, d.Name.Name, strings.Join(params, ", "), results)
	for _, n := range numbers {
		fmt.Fprintf(out, "\tcase %d:\n\t\t%s%s%s%s\n", n, call, suffix(n), with, end)
	}
	fmt.Fprintf(out, "\t}\n\t%s%s%s\n}\n", call, suffix(0), with)
}

// switchFile returns the file of a package that selects the enabled mutant.
func (x *tree) switchFile() []byte {
	return fmt.Appendf(nil, "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantOn, _ = strconv.Atoi(os.Getenv(%q))\n", x.file.Name.Name, schema.Selects)
}
