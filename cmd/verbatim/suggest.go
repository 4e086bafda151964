package main

import "strings"

// list puts names into a sentence.
func list(names []string) string { return strings.Join(names, ", ") }

// didYouMean is `; did you mean x?` for the name nearest to s, or nothing when
// none is near.
func didYouMean(s string, names []string) string {
	s = strings.ToLower(s[:min(len(s), 64)])
	best, distance := "", (len(s)+2)/3+1
	for _, n := range names {
		if d := edits(s, strings.ToLower(n)); d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// edits counts the bytes to insert, delete or replace between a and b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			if a[i] != b[j] {
				diagonal++
			}
			row[j+1] = min(diagonal, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
