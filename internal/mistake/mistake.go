// Package mistake holds what errors about a text share, whatever the text is: the
// word that was perhaps meant, and the line with a caret under the mistake.
package mistake

import (
	"strings"
	"unicode"
)

// DidYouMean returns `; did you mean x?` for the word nearest to s, or nothing
// when none is near.
func DidYouMean(s string, words []string) string {
	if hint := Suggest(s, words); hint != "" {
		return "; " + hint
	}
	return ""
}

// Suggest returns `did you mean x?` for the word nearest to s, or nothing when none is near.
func Suggest(s string, words []string) string {
	if w := Nearest(s, words); w != "" {
		return "did you mean " + w + "?"
	}
	return ""
}

// OneOf returns a list for people: a, b or c.
func OneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Nearest returns the first of the words that are nearest to s, regardless of
// case. It is "" when all of them differ in more than a third of s, or in every
// letter; a word that starts with s is as near as one that differs in one letter.
// A * in s stands for anything, so that the nearest match of a pattern can be found.
func Nearest(s string, words []string) string {
	s = clip(s)
	letters := len(strings.ReplaceAll(s, "*", ""))
	best, bestDistance := "", (letters+2)/3+1
	for _, w := range words {
		d := distance(s, clip(w))
		if letters > 1 && d > 1 && strings.HasPrefix(clip(w), s) {
			d = 1
		}
		if d < bestDistance && d < max(letters, len(w)) {
			best, bestDistance = w, d
		}
	}
	return best
}

// clip bounds the work that a suggestion is worth.
func clip(s string) string { return strings.ToLower(s[:min(len(s), 64)]) }

// distance returns the number of single-byte insertions, deletions and
// replacements between s and w (Levenshtein); a * in s costs nothing.
func distance(s, w string) int {
	row := make([]int, len(w)+1) // distances of the part of s so far to each prefix of w
	for j := range row {
		row[j] = j
	}
	for i := range len(s) {
		diagonal := row[0]
		if s[i] != '*' {
			row[0]++
		}
		for j := range len(w) {
			above := row[j+1]
			row[j+1] = step(s[i], w[j], diagonal, above, row[j])
			diagonal = above
		}
	}
	return row[len(w)]
}

// step returns one cell of the table of distance.
func step(s, w byte, diagonal, above, left int) int {
	if s == '*' {
		return min(diagonal, above, left)
	}
	if s != w {
		diagonal++
	}
	return min(diagonal, above+1, left+1)
}

// width is how much of a long line Excerpt shows on each side of the mistake.
const width = 60

// Excerpt returns two more lines for a message: the line around a column, which
// counts characters from 1, and a caret under that column. Of a blank line there is
// nothing to show.
func Excerpt(line string, column int) string {
	if strings.TrimSpace(line) == "" {
		return ""
	}
	runes := []rune(line)
	at := max(0, min(column-1, len(runes)))
	from, to := max(0, at-width), min(len(runes), at+width)
	head, tail := "", ""
	if from > 0 {
		head = "..."
	}
	if to < len(runes) {
		tail = "..."
	}
	return "\n  " + head + strings.Map(printable, string(runes[from:to])) + tail +
		"\n  " + strings.Repeat(" ", len(head)+at-from) + "^"
}

// printable keeps the caret in place: every character takes one column.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsMark(r), !unicode.IsPrint(r):
		return '?'
	}
	return r
}
