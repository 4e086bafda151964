package faults

import "strings"

// didYouMean returns `; did you mean x?` for the word nearest to s, or nothing
// when none is near.
func didYouMean(s string, words []string) string {
	if w := nearest(s, words); w != "" {
		return "; did you mean " + w + "?"
	}
	return ""
}

// nearest returns the first of the words that are nearest to s, regardless of
// case, or "" when all of them differ in more than a third of s. A * in s
// stands for anything, so that the nearest match of a pattern can be found.
func nearest(s string, words []string) string {
	s = clip(s)
	best, bestDistance := "", (len(strings.ReplaceAll(s, "*", ""))+2)/3+1
	for _, w := range words {
		if d := distance(strings.ToLower(s), strings.ToLower(clip(w))); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// clip bounds the work that a suggestion is worth.
func clip(s string) string { return s[:min(len(s), 64)] }

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
