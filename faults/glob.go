package faults

import "strings"

// matchGlob reports whether the whole name matches the pattern, in which * stands for
// any characters but a slash. On a mismatch it extends the last * by one character,
// which is enough because * is the only wildcard.
func matchGlob(pattern, name string) bool {
	p, n := 0, 0
	star, taken := -1, 0 // the last * and the end of its match
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, taken = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0 && name[taken] != '/':
			taken++
			p, n = star+1, taken
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// validName reports whether s is a legal pattern.
func validName(s string) bool {
	for _, r := range s {
		if !isNameChar(r) {
			return false
		}
	}
	return s != ""
}

func isNameChar(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || isDigit(r) || r < 0x80 && strings.ContainsRune("_.*/-", r)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
