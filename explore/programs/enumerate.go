package programs

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Enumerate yields the text of every program in the expansion of a pattern. A pattern is a program in which [A;B] stands
// for A or B, and <N: ACT, ACT> for every sequence of at most N of the listed acts. Some of the programs may be invalid.
func Enumerate(pattern string) (iter.Seq[string], error) {
	if err := checkPattern(pattern); err != nil {
		return nil, err
	}
	return func(yield func(string) bool) { enumerate(pattern, yield) }, nil
}

func enumerate(pattern string, yield func(string) bool) bool {
	i := opening(pattern)
	if i < 0 {
		return yield(pattern)
	}
	if pattern[i] == '[' {
		j := i + strings.IndexByte(pattern[i:], ']')
		for _, alternative := range strings.Split(pattern[i+1:j], ";") {
			if !enumerate(pattern[:i]+alternative+pattern[j+1:], yield) {
				return false
			}
		}
		return true
	}
	j := i + strings.IndexByte(pattern[i:], '>')
	most, acts, _ := strings.Cut(pattern[i+1:j], ":")
	n, _ := strconv.Atoi(most) // checkPattern has validated it
	return sequences(strings.Split(acts, ","), n, func(s []string) bool {
		return enumerate(inserted(pattern[:i], strings.Join(s, ";"), pattern[j+1:]), yield)
	})
}

// opens matches the start of a choice. A fault budget contains < too, but no digit follows it.
var opens = regexp.MustCompile(`\[|<[0-9]`)

func opening(s string) int {
	if at := opens.FindStringIndex(s); at != nil {
		return at[0]
	}
	return -1
}

// inserted joins before, acts and after. acts may be empty.
func inserted(before, acts, after string) string {
	if strings.TrimSpace(acts) == "" {
		return before + after
	}
	if next := strings.TrimSpace(after); next != "" && next[0] != '|' && next[0] != '/' && next[0] != '}' {
		acts += ";"
	}
	return before + acts + after
}

// sequences yields every sequence of at most n words, shortest first.
func sequences(words []string, n int, yield func([]string) bool) bool {
	var of func(s []string, left int) bool
	of = func(s []string, left int) bool {
		if left == 0 {
			return yield(s)
		}
		for _, w := range words {
			if !of(append(s[:len(s):len(s)], w), left-1) {
				return false
			}
		}
		return true
	}
	for length := 0; length <= n; length++ {
		if !of(nil, length) {
			return false
		}
	}
	return true
}

// maxSequence is the largest N in a pattern.
const maxSequence = 4

// checkPattern validates the brackets of a pattern. Parse validates its programs.
func checkPattern(pattern string) error {
	for rest := pattern; ; {
		i := opening(rest)
		if i < 0 {
			return nil
		}
		end := map[byte]string{'[': "]", '<': ">"}[rest[i]]
		inside, after, ok := strings.Cut(rest[i+1:], end)
		if !ok || opening(inside) >= 0 {
			return fmt.Errorf("programs: %q: %c has no %s", pattern, rest[i], end)
		}
		if rest[i] == '<' {
			most, _, acts := strings.Cut(inside, ":")
			if n, err := strconv.Atoi(most); err != nil || !acts || n < 1 || n > maxSequence {
				return fmt.Errorf("programs: %q: <%s> is not <N: ACT, ACT>, with N from 1 to %d", pattern, inside, maxSequence)
			}
		}
		rest = after
	}
}
