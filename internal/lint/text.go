package lint

import (
	"bytes"
	"slices"
	"strings"
)

// The strings are put together from parts, so that this file passes its own rule.

// machineRoots begin the paths of one machine.
var machineRoots = []string{"/wor" + "k/", "/hom" + "e/", "/roo" + "t/"}

// registryHosts are hosts that package managers ask.
var registryHosts = []string{
	"proxy." + "golang.org", "sum." + "golang.org", "deb." + "debian.org", "registry." + "npmjs.org",
	"pypi." + "org", "files.python" + "hosted.org", "crates." + "io", "repo1." + "maven.org",
}

// checkText finds text in any file that is true of one machine only.
func checkText(r *Repo) []Finding {
	var found []Finding
	for name, text := range r.Texts {
		line := 0
		for l := range bytes.Lines(text) {
			line++
			if root := machinePath(l); root != "" {
				found = append(found, Finding{name, line, "a path of one machine (" + root + "); " +
					"make it relative to the repository, or take it as an argument or from the environment"})
			}
			if i := slices.IndexFunc(registryHosts, func(h string) bool { return bytes.Contains(l, []byte(h)) }); i >= 0 {
				found = append(found, Finding{name, line, "the host name of a package registry (" + registryHosts[i] + "); " +
					"name the package, and leave to the go command or the package manager where to get it"})
			}
		}
	}
	return found
}

// machinePath returns the root of a path of one machine in l, or empty. A root in
// the middle of a longer path is not one.
func machinePath(l []byte) string {
	for _, root := range machineRoots {
		for rest, at := l, 0; ; {
			i := bytes.Index(rest, []byte(root))
			if i < 0 {
				break
			}
			at += i
			if at == 0 || !strings.ContainsRune(pathBytes, rune(l[at-1])) {
				return root
			}
			at += len(root)
			rest = l[at:]
		}
	}
	return ""
}

const pathBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.~}*"
