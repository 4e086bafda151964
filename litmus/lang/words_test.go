package lang

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/verbatim-rdma/verbatim/faults"
)

func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/litmus.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// blocks are the fenced examples of the page.
func blocks(text string) []string {
	var out []string
	for _, part := range strings.Split(text, "```litmus\n")[1:] {
		body, _, _ := strings.Cut(part, "```")
		out = append(out, body)
	}
	return out
}

// codeWords are the words of the page that are set as code.
func codeWords(text string) map[string]bool {
	out := map[string]bool{}
	for i, part := range strings.Split(strings.ReplaceAll(text, "```", "`"), "`") {
		if i%2 == 0 {
			continue
		}
		for _, word := range strings.Fields(part) {
			out[word] = true
			for _, w := range strings.FieldsFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
				out[w] = true
			}
		}
	}
	return out
}

// Every word of the language is on the page.
func TestPageHasAllWords(t *testing.T) {
	mentioned := codeWords(page(t))
	words := slices.Concat(sections, statementNames(), flagNames, optionNames(), accessNames(), questions, ResultNames, StateNames(),
		comparisons, faults.KindNames(), []string{"samepsn", "whole", "both", "global", "persistent"})
	for _, w := range words {
		if !mentioned[w] {
			t.Errorf("docs/litmus.md does not mention `%s`", w)
		}
	}
}
