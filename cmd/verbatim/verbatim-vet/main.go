// Verbatim-vet finds code that can make a protocol behave differently in two runs with the same choices: clocks,
// goroutines, channels, the order of maps, state that hosts share. Use it with go vet, or as `verbatim vet`:
//
//	go vet -vettool=$(go tool -n verbatim-vet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/verbatim-rdma/verbatim/internal/determinism"
)

func main() { unitchecker.Main(determinism.Analyzer) }
