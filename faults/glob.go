package faults

import (
	"path"
	"strings"
)

// matchGlob reports whether the whole name matches the pattern, in which *
// stands for any characters but a slash and is the only wildcard.
func matchGlob(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok && !strings.ContainsAny(pattern, `?[\`)
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
