package generate

import (
	_ "embed"
	"strings"
)

// supportFile is the file of a mutated package that selects the enabled mutant.
const supportFile = "verbatim_mutants.go"

//go:embed support.txt
var supportText string

// support returns the text of that file. Each package limits the memory of its program: a test need
// not contain the other packages.
func support(pkg string) []byte {
	return []byte(strings.Replace(supportText, "package support", "package "+pkg, 1))
}
