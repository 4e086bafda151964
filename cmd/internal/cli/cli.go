package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// Exit statuses.
const (
	OK       = 0 // verified, clean, done, or no longer failing
	Violated = 1
	Bad      = 2 // usage or input
	RanOut   = 3 // a limit was hit, or the check could not decide
)

// Worse returns the status that takes precedence.
func Worse(a, b int) int {
	rank := [...]int{OK: 0, RanOut: 1, Violated: 2, Bad: 3}
	if rank[a] > rank[b] {
		return a
	}
	return b
}

// Status carries an exit status through cobra. It is not an error message.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Err returns nil for status 0.
func (s Status) Err() error {
	if s == OK {
		return nil
	}
	return s
}

// Root makes c the root of a program: its commands report their errors to [Run].
func Root(c *cobra.Command) *cobra.Command {
	c.SilenceErrors, c.SilenceUsage = true, true
	c.Version = version(debug.ReadBuildInfo()) // an own template would link text/template, and with it all exported methods: 2.8 MB
	c.Args = NoCommand
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(&cobra.Command{Use: "version", Short: "Print from which versions this program was built", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s version %s\n", c.Name(), c.Version)
			return err
		}})
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, c.CommandPath())
	})
	return c
}

// Run runs a program and returns its exit status.
func Run(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	strict(root)
	err := root.Execute()
	var s Status
	switch {
	case err == nil:
		return OK
	case errors.As(err, &s):
		return int(s)
	case errors.Is(err, context.Canceled): // only Ctrl-C cancels, see Interruptible
		fmt.Fprintf(stderr, "%s: interrupted\n", root.Name())
		return RanOut
	}
	fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
	return Bad
}

// strict makes the commands that cobra adds refuse an unknown name, as all other commands do.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, names []string) error {
				about, rest, err := root.Find(names)
				if err == nil && about == root {
					err = NoCommand(root, rest)
				}
				return err
			}
		case "completion":
			c.Args = NoCommand
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// CollectLess makes garbage collections rarer, unless GOGC is set: a search keeps nearly all that it
// allocates.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Interruptible returns the context of a command that Ctrl-C stops cleanly. A second Ctrl-C
// terminates the program.
func Interruptible(c *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// NoCommand returns an error for arguments: a command that only has subcommands accepts none.
func NoCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, x := range c.Commands() {
		if x.IsAvailableCommand() {
			names = append(names, x.Name())
		}
	}
	return fmt.Errorf("unknown command %q; known: %s%s", args[0], List(names), mistake.DidYouMean(args[0], names))
}

// Takes adds a description of the arguments to the error for too few or too many.
func Takes(what string, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return fmt.Errorf("%s takes %s, not %d arguments; see `%s --help`", c.CommandPath(), what, len(given), c.CommandPath())
		}
		return nil
	}
}

// Elsewhere returns hidden commands that refer to another program of this module.
func Elsewhere(program, does string, names ...string) []*cobra.Command {
	var out []*cobra.Command
	for _, name := range names {
		text := fmt.Sprintf("%s is a command of %s, which %s: go run ./cmd/%s %s ...", name, program, does, program, name)
		out = append(out, &cobra.Command{Use: name, Short: text, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return errors.New(text) }})
	}
	return out
}

// List puts names into a sentence.
func List(names []string) string { return strings.Join(names, ", ") }

// Lines writes one JSON object a line, as it is, without escapes for HTML.
func Lines(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// OrNull is null in JSON for an empty text.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
