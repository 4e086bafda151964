// Command site prepares the pages of the repository for MkDocs, and checks the site that MkDocs builds:
//
//	site stage DIR    writes mkdocs.yml and the pages into DIR
//	site check DIR    prints the faults of the site in DIR, such as dead links, and fails if there are any
//
// scripts/site runs both commands in the root of the repository.
package main

import (
	"fmt"
	"os"

	"github.com/verbatim-rdma/verbatim/internal/docs"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want stage DIR or check DIR")
	}
	switch dir := args[1]; args[0] {
	case "stage":
		return docs.Stage(os.DirFS("."), dir)
	case "check":
		faults, err := docs.CheckSite(os.DirFS(dir))
		for _, f := range faults {
			fmt.Println(f)
		}
		if err == nil && len(faults) > 0 {
			err = fmt.Errorf("%d faults in the site", len(faults))
		}
		return err
	}
	return fmt.Errorf("%q: want stage or check", args[0])
}
