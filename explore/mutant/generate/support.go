package generate

import (
	_ "embed"
	"strings"
)

// supportFile is the file of a mutated package that selects the enabled mutant.
const supportFile = "verbatim_mutants.go"

//go:embed support.txt
var supportText string

// support is the text of that file. Each package looks after the memory of its program: the tests of
// one need not have the others in them.
func support(pkg string) []byte {
	return []byte(strings.Replace(supportText, "package support", "package "+pkg, 1))
}
