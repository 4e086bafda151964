package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/commands.md lists every command and its flags as their help does. With -update the test rewrites the page.
func TestCommandsPage(t *testing.T) {
	const name, begin, end = "docs/commands.md", "<!-- begin commands -->\n", "<!-- end commands -->"
	dir := root(t)
	before, rest, ok1 := strings.Cut(fileText(t, dir, name), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the lines %q and %q around the commands", name, begin, end)
	}
	var b strings.Builder
	commandReference(t, &b)
	if *update {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != b.String() {
		t.Errorf("%s is out of date: update it with go test ./cmd/verbatim -run Page -update. It should contain\n%s", name, &b)
	}
}

var (
	subcommand = regexp.MustCompile(`(?m)^  ([a-z0-9]+) +(.+)$`)
	flagLine   = regexp.MustCompile(`(?m)^ +(?:-[a-z], +)?(--[a-z-]+(?: [a-z]+)?) {2,}(.+)$`)
	pageName   = regexp.MustCompile(`docs/([a-z-]+)\.md`)
	inTable    = strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;")
)

// commandReference writes the subcommands of the command args, with their subcommands.
func commandReference(t *testing.T, b *strings.Builder, args ...string) {
	for _, m := range subcommand.FindAllStringSubmatch(helpPart(help(t, args...), "Available Commands:"), -1) {
		if m[1] == "help" || m[1] == "completion" {
			continue
		}
		line := append(args[:len(args):len(args)], m[1])
		text := help(t, line...)
		use, _, _ := strings.Cut(helpPart(text, "Usage:"), "\n") // the second line is only about subcommands
		fmt.Fprintf(b, "\n## %s\n\n%s: `%s`\n", strings.Join(line, " "), m[2], strings.TrimSpace(use))
		flags := "\n| flag | |\n|---|---|\n"
		for _, f := range flagLine.FindAllStringSubmatch(helpPart(text, "Flags:"), -1) {
			if f[1] != "--help" {
				flags += fmt.Sprintf("| `%s` | %s |\n", f[1], pageName.ReplaceAllString(inTable.Replace(f[2]), "[$1]($1.md)"))
			}
		}
		if strings.Count(flags, "\n") > 3 {
			b.WriteString(flags)
		}
		commandReference(t, b, line...)
	}
	if len(args) == 0 {
		b.WriteString("\n")
	}
}

// help returns the help text of a command.
func help(t *testing.T, args ...string) string {
	code, out, stderr := call(append(args, "--help")...)
	if code != 0 {
		t.Fatalf("%v --help: status %d: %s", args, code, stderr)
	}
	return out
}

// helpPart returns the part of a help text below a heading, up to the next empty line.
func helpPart(text, heading string) string {
	_, rest, _ := strings.Cut(text, "\n"+heading+"\n")
	part, _, _ := strings.Cut(rest, "\n\n")
	return part
}
