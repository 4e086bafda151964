package generate

import (
	_ "embed"
	"strings"
)

// supportFile is the file of a mutated package that says which mutant is on.
const supportFile = "verbatim_mutants.go"

//go:embed support.txt
var supportText string

// support is the text of that file. One package of a program looks after its memory.
func support(pkg string, watches bool) []byte {
	text := strings.Replace(supportText, "package support", "package "+pkg, 1)
	if !watches {
		text = strings.Replace(text, "const vm_watches = true", "const vm_watches = false", 1)
	}
	return []byte(text)
}
