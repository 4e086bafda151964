package split

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
)

// switches are the flags without a value of the commands that are divided. A word after another flag is its value.
var switches = map[string][]string{
	"check":   {"json", "stop-at-first", "deep", "audit", "watch", "details", "no-shrink"},
	"mutants": {"json", "generate", "sqlite", "no-control"},
	"matrix":  {"json", "markdown"},
}

// Switch reports whether a flag of a command has no value.
func Switch(command, flag string) bool {
	return flag == "help" || slices.Contains(switches[command], flag)
}

// fit returns an error for flags that cannot be divided among machines.
func fit(command string, flags []string) error {
	for _, name := range elsewhere {
		if has(flags, name) {
			return fmt.Errorf("%w: --%s names a file of the machine that runs a job; omit it", ErrUsage, name)
		}
	}
	if v, _ := value(flags, "profile"); slices.ContainsFunc(strings.Split(v, ","), faults.IsFile) {
		return fmt.Errorf("%w: --profile %s is a file of one machine; use a name, with the knobs that differ", ErrUsage, v)
	}
	if on(flags, "watch") {
		return fmt.Errorf("%w: --watch never ends", ErrUsage)
	}
	if switches[command] == nil {
		return nil // it is one job
	}
	for i := 0; i < len(flags); i++ {
		f := flags[i]
		if !strings.HasPrefix(f, "--") || f == "--" {
			return fmt.Errorf("%w: %q: names come before flags", ErrUsage, f)
		}
		if !strings.Contains(f, "=") && !Switch(command, f[2:]) {
			i++ // its value
		}
	}
	return nil
}

// has reports whether a flag is given.
func has(flags []string, name string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return f == "--"+name || strings.HasPrefix(f, "--"+name+"=") })
}

// on reports whether a flag without a value is given, and not as --name=false. The last one counts.
func on(flags []string, name string) bool {
	set := false
	for _, f := range flags {
		if text, ok := strings.CutPrefix(f, "--"+name+"="); ok {
			v, err := strconv.ParseBool(text)
			set = err == nil && v
		} else if f == "--"+name {
			set = true
		}
	}
	return set
}

// value returns the last value of a flag, and whether it is given.
func value(flags []string, name string) (text string, ok bool) {
	rest := slices.Clone(flags)
	if text = take(&rest, name); len(rest) < len(flags) {
		return text, true
	}
	return "", false
}

// take removes a flag with a value, --name=value or --name value, and returns the last value.
func take(flags *[]string, name string) (value string) {
	var left []string
	for i := 0; i < len(*flags); i++ {
		f := (*flags)[i]
		v, ok := strings.CutPrefix(f, "--"+name+"=")
		switch {
		case ok:
			value = v
		case f == "--"+name && i+1 < len(*flags):
			i++
			value = (*flags)[i]
		default:
			left = append(left, f)
		}
	}
	*flags = left
	return value
}
