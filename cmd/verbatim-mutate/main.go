// Command verbatim-mutate prints all mutants of the given packages, and the sources that contain the
// mutants, as one JSON object: a Set of package schema. 'verbatim mutants PROTOCOL --generate' runs
// it in the source tree.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
)

func main() {
	kit := flag.String("kit", "", "comma-separated folders of shared packages; their functions that the other packages use are mutated too")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: verbatim-mutate [--kit FOLDER,...] FOLDER,...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := mutate(ctx, folders(flag.Arg(0)), folders(*kit)); err != nil {
		fmt.Fprintln(os.Stderr, "verbatim-mutate:", err)
		os.Exit(1)
	}
}

func mutate(ctx context.Context, dirs, kit []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	set, err := generate.Generate(ctx, root, dirs, kit...)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(set)
}

func folders(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}
