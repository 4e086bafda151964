package faults

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func genNamed() *rapid.Generator[Named] {
	return rapid.Custom(func(t *rapid.T) Named {
		p := rapid.SampledFrom(Profiles()).Draw(t, "base")
		for range rapid.IntRange(0, 6).Draw(t, "turns") {
			k := rapid.SampledFrom(knobs).Draw(t, "knob")
			// Some words in the text for people are not values.
			values := slices.DeleteFunc(append(strings.Split(k.legal, ", "), "64", "256"), func(v string) bool {
				_, err := p.WithKnob(k.name, v)
				return err != nil
			})
			var err error
			if p, err = p.WithKnob(k.name, rapid.SampledFrom(values).Draw(t, "value")); err != nil {
				t.Fatal(err)
			}
		}
		return Named{Title: rapid.StringMatching(`([A-Za-z0-9_.-]{1,8})?`).Draw(t, "name"), Profile: p}
	})
}

func TestTextOfAProfileReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genNamed().Draw(t, "profile")
		text := want.Text()
		if rapid.Bool().Draw(t, "dressed") {
			text = "# a comment\r\n\n\t" + strings.ReplaceAll(text, "\n", "   # why\r\n")
		}
		got, err := ParseProfile(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", text, err, diff)
		}
	})
}

func TestProfileFileErrors(t *testing.T) {
	const bases = "strong, relaxed, ooo, srd, iba, rxe"
	for _, x := range []struct {
		reason, text      string
		line, column      int
		expected, found   string
		suggestion, shown string
	}{
		{"nothing", "", 1, 1, "base PROFILE", "end of file", "", ""},
		{"only comments", "# a card\n\n", 3, 1, bases, "end of file", "", ""},
		{"a misspelt knob", "base strong\nPlacment AnyOrder", 2, 1, "name, base, Placement", `"Placment"`, "Placement", "Placment AnyOrder"},
		{"a misspelt base", "base stong", 1, 6, bases, `"stong"`, "strong", ""},
		{"no base", "base", 1, 5, bases, "end of line", "", ""},
		{"no value", "base strong\n  DDIO # on", 2, 12, "a value of DDIO (true, false)", "end of line", "", ""},
		{"a wrong value", "base strong\nPlacement  Anyorderr", 2, 12, "InOrder, Blocks128, AnyOrder", `"Anyorderr"`, "AnyOrder", ""},
		{"a number out of range", "base strong\nMTU 1500", 2, 5, "powers of two", `"1500"`, "", ""},
		{"an equals sign", "base strong\nMTU = 1024", 2, 7, "end of line", `"1024"`, "", ""},
		{"a knob before the base", "MTU 1024\nbase strong", 1, 1, "before the knobs", `"MTU"`, "", ""},
		{"a knob twice", "base strong\nMTU 1024\nmtu 1024", 3, 1, "once", "as in line 2", "", ""},
		{"a base twice", "base strong\nbase rxe", 2, 1, "once", "as in line 1", "", ""},
		{"a bad name", "name my+card\nbase strong", 1, 6, "a name", `"my+card"`, "", ""},
		{"columns count characters", "base strong\nµ x", 2, 1, "name, base", `"µ"`, "", ""},
		{"JSON", "{\"base\": \"strong\"}", 1, 1, "name, base", `"{\"base\":"`, "", ""},
	} {
		t.Run(x.reason, func(t *testing.T) {
			_, err := ParseProfile(x.text)
			var e *FileError
			if !errors.As(err, &e) || !errors.Is(err, ErrProfileFile) {
				t.Fatal(err)
			}
			if e.Line != x.line || e.Column != x.column || !strings.Contains(e.Expected, x.expected) ||
				!strings.Contains(e.Found, x.found) || e.Suggestion != x.suggestion || !strings.Contains(e.Error(), x.shown) {
				t.Errorf("%+v\n%v", e, e)
			}
		})
	}
}

func TestFindProfile(t *testing.T) {
	got, err := FindProfile("../testdata/profiles/mycard.profile")
	if want := mustProfile(t, "strong+Placement=AnyOrder+ReadsSeeAcked=false+MaxInline=32"); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := FindProfile("relaxed+MTU=256"); err != nil || got.MTU != 256 {
		t.Errorf("%v, %v", got, err)
	}
	dir := t.TempDir()
	bad, big := dir+"/bad.profile", dir+"/big.profile"
	for name, text := range map[string]string{bad: "base strong\nMTV 4096\n", big: strings.Repeat("#", MaxFile+1)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for given, says := range map[string]string{
		bad:               "bad.profile: line 2, column 1: expected name, base, Placement",
		big:               "larger than",
		dir + "/":         "not a regular file",
		"missing.profile": "missing.profile",
		"./strong":        "./strong",
		"stong":           "did you mean strong?",
	} {
		if _, err := FindProfile(given); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", given, err, says)
		}
	}
}

func FuzzParseProfile(f *testing.F) {
	for _, s := range []string{"", "base strong", "name x\nbase iba\nMTU 256 # why\n", "base\n", "\xff\n\x00", "base strong\nµ 1", "base strong\r\nDomain eadr"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseProfile(s)
		if err != nil {
			var e *FileError
			if !errors.As(err, &e) || e.Expected == "" || e.Found == "" || e.Line < 1 || e.Column < 1 ||
				e.Column > utf8.RuneCountInString(e.Text)+1 || !utf8.ValidString(e.Error()) {
				t.Fatalf("incomplete error %#v", err)
			}
			return
		}
		again, err := ParseProfile(n.Text())
		if diff := cmp.Diff(n, again); err != nil || diff != "" {
			t.Fatalf("%q does not read back: %v\n%s", n.Text(), err, diff)
		}
		if byName, err := ProfileByName(n.Profile.Name); err != nil || byName != n.Profile {
			t.Fatalf("%s is not found by its name: %v", n.Profile.Name, err)
		}
	})
}

func TestWeakeningsAreWeaker(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Weakenings() {
		seen[w.Knob] = true
		p := mustProfile(t, "strong+"+w.String())
		weaker, stronger := WeakerOrEqual(p, strong()), WeakerOrEqual(strong(), p)
		if w.Same != (weaker && stronger) || w.Other != (!weaker && !stronger) || stronger && !weaker {
			t.Errorf("%+v: weaker %v, stronger %v", w, weaker, stronger)
		}
	}
	sizes, reasons := Sizes()
	for i, name := range sizes {
		seen[name] = true
		if reasons[i] == "" {
			t.Errorf("%s: no reason", name)
		}
	}
	for _, k := range knobs {
		if !seen[k.name] {
			t.Errorf("%s is neither weakened nor a size", k.name)
		}
	}
	for name, a := range abouts {
		if _, err := knobByName(name); err != nil {
			t.Error(err)
		}
		if a.needs != "" {
			mustProfile(t, "strong+"+a.needs+"="+a.needed)
		}
	}
}
