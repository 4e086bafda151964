package faults

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustProfile(t *testing.T, name string) Profile {
	t.Helper()
	p, err := ProfileByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNamedProfilesAreValidAndFresh(t *testing.T) {
	want := []string{"strong", "relaxed", "ooo", "srd", "iba", "rxe"}
	if diff := cmp.Diff(want, ProfileNames()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, p := range Profiles() {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	Profiles()[0].MTU = 1
	if Profiles()[0].MTU == 1 {
		t.Error("profiles are shared")
	}
}

// TestLitmusVerdicts checks the profiles against those verdicts in section 8 of the
// notes that depend on knobs. Each follows from the knobs that decide it.
func TestLitmusVerdicts(t *testing.T) {
	unordered := func(p Profile) bool { return p.Placement != InOrder }
	tests := []struct {
		reason string
		shown  func(Profile) bool
		yes    string // profiles that show it; all others must not
	}{
		{"3: a flag is seen before the data written earlier", unordered, "relaxed ooo srd iba"},
		{"5: an Atomic is seen before the data written earlier", func(p Profile) bool { return !p.AtomicFlushes }, ""},
		{"6: the first of two Writes to a word stays", unordered, "relaxed ooo srd iba"},
		{"11: a lock is taken over and the data is not there", func(p Profile) bool { return !p.AtomicFlushes && !p.ReadsSeeAcked }, ""},
		{"14: an aligned word is torn", func(p Profile) bool { return p.CellBytes < 8 }, ""},
		{"15: the canary is there, another 128-byte block is not", unordered, "relaxed ooo srd iba"},
		{"15: the canary is there, its own 128-byte block is not", func(p Profile) bool { return p.Placement == AnyOrder }, "relaxed ooo iba"},
		{"16: a CPU increment and a fetch-and-add lose one", func(p Profile) bool { return !p.AtomicGlob }, "strong relaxed ooo srd iba rxe"},
		{"19: a failed Write leaves any byte", func(p Profile) bool { return !p.WholePackets && p.FailedCell() == 1 }, "iba"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			for _, p := range Profiles() {
				want := strings.Contains(" "+tt.yes+" ", " "+p.Name+" ")
				if got := tt.shown(p); got != want {
					t.Errorf("%s: shown %v, want %v", p.Name, got, want)
				}
			}
		})
	}
}

func TestKnobsAreTheFieldsOfProfile(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[Profile]())[1:] // without Name
	shown := strong().Knobs()
	if len(shown) != len(fields) {
		t.Fatalf("%d knobs, %d fields", len(shown), len(fields))
	}
	for i, k := range shown {
		if k.Name != fields[i].Name {
			t.Errorf("knob %s stands where the field is %s", k.Name, fields[i].Name)
		}
		if k.Meaning == "" || k.Promise == "" || k.Source == "" || k.Legal == "" || k.Value != k.Default {
			t.Errorf("incomplete: %+v", k)
		}
	}
}

func TestProfileNamesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SampledFrom(Profiles()).Draw(t, "profile")
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			k := rapid.SampledFrom(knobs).Draw(t, "knob")
			from := rapid.SampledFrom(Profiles()).Draw(t, "value of")
			var err error
			if want, err = want.WithKnob(strings.ToLower(k.name), strings.ToUpper(k.get(&from))); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ProfileByName(want.Name)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", want.Name, err, diff)
		}
	})
}

func TestKnobTurnedBackGivesTheNamedProfile(t *testing.T) {
	p := mustProfile(t, "strong+CellBytes=1+DDIO=false+DDIO=true+CellBytes=8")
	if diff := cmp.Diff(strong(), p); diff != "" {
		t.Error(diff)
	}
}

func TestProfileErrors(t *testing.T) {
	tests := []struct {
		reason, name string
		cause        error
		says         []string
	}{
		{"misspelt profile", "relxed", ErrUnknownProfile, []string{"strong, relaxed, ooo, srd, iba, rxe", "did you mean relaxed?"}},
		{"no profile", "", ErrUnknownProfile, []string{"strong"}},
		{"misspelt knob", "strong+CelBytes=1", ErrUnknownKnob, []string{`"CelBytes"`, "did you mean CellBytes?"}},
		{"a plus and no knob", "strong+", ErrUnknownKnob, []string{"the knobs are Placement"}},
		{"no value", "strong+DDIO", ErrKnobValue, []string{"DDIO", "true, false"}},
		{"a number that a knob cannot have", "strong+CellBytes=4", ErrKnobValue, []string{"CellBytes=4", "8, 1"}},
		{"a path MTU between two", "strong+MTU=1500", ErrKnobValue, []string{"powers of two"}},
		{"no such order", "strong+Placement=Random", ErrKnobValue, []string{"InOrder, Blocks128, AnyOrder"}},
		{"a yes that is not true", "strong+DDIO=1", ErrKnobValue, []string{"true, false"}},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			p, err := ProfileByName(tt.name)
			if !errors.Is(err, tt.cause) || p != (Profile{}) {
				t.Fatalf("%v, %v; want %v", p, err, tt.cause)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v\ndoes not say %q", err, s)
				}
			}
		})
	}
}

func TestValidateFindsEveryBadField(t *testing.T) {
	for _, name := range []string{"Placement", "CellBytes", "FailedCellBytes", "MTU", "MaxRdAtomic", "Domain"} {
		p := strong()
		reflect.ValueOf(&p).Elem().FieldByName(name).SetZero()
		if err := p.Validate(); !errors.Is(err, ErrKnobValue) || !strings.Contains(err.Error(), name+"=") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Profile{}).Validate(); !errors.Is(err, ErrKnobValue) {
		t.Errorf("zero profile: %v", err)
	}
}

func TestWeakerOrEqualOfNamedProfiles(t *testing.T) {
	covers := map[string]string{
		"strong": "strong", "relaxed": "strong relaxed", "srd": "strong srd",
		"ooo": "strong relaxed srd ooo", "iba": "strong relaxed ooo srd iba rxe", "rxe": "rxe",
	}
	for _, a := range Profiles() {
		for _, b := range Profiles() {
			want := strings.Contains(" "+covers[a.Name]+" ", " "+b.Name+" ")
			if got := WeakerOrEqual(a, b); got != want {
				t.Errorf("WeakerOrEqual(%s, %s) = %v", a.Name, b.Name, got)
			}
		}
	}
}

func TestWeakeningOneKnobIsSeen(t *testing.T) {
	for _, turn := range []string{
		"AtomicFlushes=false", "CellBytes=1", "FailedCellBytes=1", "Placement=Blocks128", "MTU=256", "MaxRdAtomic=17",
		"WholePackets=false", "DrainOnRevoke=false", "ReadsSeeAcked=false", "AtomicOrdersLater=false",
	} {
		weak := mustProfile(t, "strong+"+turn)
		if !WeakerOrEqual(weak, strong()) || WeakerOrEqual(strong(), weak) {
			t.Errorf("%s does not weaken", turn)
		}
	}
	for _, turn := range []string{"DDIO=false", "Domain=EADR", "FenceWaitsAll=true", "AtomicGlob=true"} {
		hard := mustProfile(t, "strong+"+turn)
		if !WeakerOrEqual(strong(), hard) || WeakerOrEqual(hard, strong()) {
			t.Errorf("%s does not strengthen", turn)
		}
	}
	for _, turn := range []string{"Domain=Volatile", "Domain=Battery"} {
		other := mustProfile(t, "strong+"+turn)
		if WeakerOrEqual(strong(), other) || WeakerOrEqual(other, strong()) {
			t.Errorf("%s is comparable with ADR", turn)
		}
	}
}

func TestProfileInJSONReadsBack(t *testing.T) {
	for _, want := range Profiles() {
		text, err := json.Marshal(want)
		var got Profile
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}
