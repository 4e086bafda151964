package faults

import (
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// Knob describes one knob of a profile, for people.
type Knob struct {
	Name    string `json:"name"`    // the field of Profile, and the name for WithKnob
	Value   string `json:"value"`   // its value in the profile at hand
	Default string `json:"default"` // its value in the profile strong
	Legal   string `json:"legal"`   // the values it can have
	Meaning string `json:"meaning"` // its meaning; for a yes-or-no knob, the meaning of true
	Promise string `json:"promise"` // who promises it
	Source  string `json:"source"`  // the evidence; see the package documentation

	// Exercised is what a program must do to observe the knob; empty if nothing
	// special.
	Exercised string `json:"exercised"`
	// Needs is another knob and its value, as Knob=value, without which this knob has
	// no effect; empty if there is none.
	Needs string `json:"needs"`
	// Simulated is why the simulator does not distinguish the values; empty if it does.
	Simulated string `json:"simulated"`
	// Amount explains why a knob that is an amount or a capability is not a promise.
	Amount string `json:"amount"`
}

// Knobs describes every knob with its value in p, in the order of the fields.
func (p Profile) Knobs() []Knob {
	base := strong()
	out := make([]Knob, len(knobs))
	for i, k := range knobs {
		out[i] = Knob{
			Name: k.name, Value: k.get(&p), Default: k.get(&base), Legal: k.legal,
			Meaning: k.meaning, Promise: k.promise, Source: k.source,
		}
		a := abouts[k.name]
		out[i].Exercised, out[i].Simulated, out[i].Amount = a.exercised.String(), a.blind, a.size
		if a.needs != "" {
			out[i].Needs = a.needs + "=" + a.needed
		}
	}
	return out
}

// knob is a row of the table of knobs, from which everything that applies to all knobs
// is derived.
type knob struct {
	name                            string
	legal, meaning, promise, source string

	get    func(*Profile) string
	set    func(*Profile, string) error // accepts a legal result of get
	weaker func(a, b *Profile) bool     // a's value allows all that b's does; nil: not compared
}

func (k knob) badValue(value string) error {
	return fmt.Errorf("%w: %s=%s; legal values: %s%s", ErrKnobValue, k.name, value, k.legal,
		mistake.DidYouMean(value, strings.Split(k.legal, ", ")))
}

func knobByName(name string) (knob, error) {
	var names []string
	for _, k := range knobs {
		if strings.EqualFold(k.name, name) {
			return k, nil
		}
		names = append(names, k.name)
	}
	return knob{}, fmt.Errorf("faults: %w: %q; the knobs are %s%s",
		ErrUnknownKnob, name, strings.Join(names, ", "), mistake.DidYouMean(name, names))
}

var errIllegal = errors.New("illegal value") // callers add the details

// promised makes k a knob that is true or false, where true allows less.
func (k knob) promised(field func(*Profile) *bool) knob {
	k = k.yesNo(field)
	k.weaker = func(a, b *Profile) bool { return !*field(a) || *field(b) }
	return k
}

// permitted makes k a knob that is true or false, where true allows more.
func (k knob) permitted(field func(*Profile) *bool) knob {
	k = k.yesNo(field)
	k.weaker = func(a, b *Profile) bool { return *field(a) || !*field(b) }
	return k
}

func (k knob) yesNo(field func(*Profile) *bool) knob {
	k.legal = "true, false"
	k.get = func(p *Profile) string { return strconv.FormatBool(*field(p)) }
	k.set = func(p *Profile, value string) error {
		switch strings.ToLower(value) {
		case "true":
			*field(p) = true
		case "false":
			*field(p) = false
		default:
			return errIllegal
		}
		return nil
	}
	return k
}

// number makes k a knob that is a number; the order is up to the caller.
func (k knob) number(field func(*Profile) *int, legal string, isLegal func(int) bool) knob {
	k.legal = legal
	k.get = func(p *Profile) string { return strconv.Itoa(*field(p)) }
	k.set = func(p *Profile, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || !isLegal(n) {
			return errIllegal
		}
		*field(p) = n
		return nil
	}
	return k
}

// smallerIsWeaker and largerIsWeaker give the order of a number.
func (k knob) smallerIsWeaker(field func(*Profile) *int) knob {
	k.weaker = func(a, b *Profile) bool { return *field(a) <= *field(b) }
	return k
}

func (k knob) largerIsWeaker(field func(*Profile) *int) knob {
	k.weaker = func(a, b *Profile) bool { return *field(a) >= *field(b) }
	return k
}

// textValue is the common interface of a profile's enumerations.
type textValue interface {
	fmt.Stringer
	encoding.TextUnmarshaler
}

// oneOf makes k a knob that is one of the names.
func (k knob) oneOf(field func(*Profile) textValue, names []string, weaker func(a, b *Profile) bool) knob {
	k.legal = strings.Join(names, ", ")
	k.get = func(p *Profile) string { return field(p).String() }
	k.set = func(p *Profile, value string) error { return field(p).UnmarshalText([]byte(value)) }
	k.weaker = weaker
	return k
}
