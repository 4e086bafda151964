// Package schema holds the types that the generator of mutants shares with their judge: the
// mutants, the program that contains all of them (a "mutant schema": Untch, Offutt, Harrold 1993),
// and the environment variables that select the active mutant.
//
// Package generate makes a [Set] and needs the Go type checker. Package mutant judges a Set and
// does not need it, so a command that only checks does not link it.
package schema

import "slices"

const (
	// Selects is the environment variable that holds the number of the active mutant.
	Selects = "VERBATIM_MUTANT"
	// Notes is the environment variable that names a file. The program appends to it, once, the
	// number of each mutant whose place it reaches.
	Notes = "VERBATIM_MUTANT_REACHED"
	// Memory is the environment variable that limits the memory of the program, in bytes.
	Memory = "VERBATIM_MUTANT_MEMORY"
	// TooMuch is the exit status of a program that exceeds Memory.
	TooMuch = 86
)

// Mutant is one change.
type Mutant struct {
	// ID consists of the function, the operator and an ordinal among the mutants of both. It does
	// not change when other functions are edited.
	ID       string   `json:"id"`
	Number   int      `json:"-"` // the value of [Selects] that activates it
	Operator Operator `json:"operator"`
	Function string   `json:"function"`
	File     string   `json:"file"` // from the root of the source tree
	Line     int      `json:"line"`
	Before   string   `json:"before"`
	After    string   `json:"after"`
}

// Set holds all mutants of some packages.
type Set struct {
	Mutants []Mutant `json:"mutants"` // Mutants[i] has the number i+1
	// Files maps names, relative to the root, to sources that contain the mutants.
	Files map[string][]byte `json:"files"`
}

// Add appends a mutant to the set and returns its number.
func (s *Set) Add(m Mutant) int {
	m.Number = len(s.Mutants) + 1
	s.Mutants = append(s.Mutants, m)
	return m.Number
}

// Find returns the mutant with an ID, or nil.
func (s *Set) Find(id string) *Mutant {
	i := slices.IndexFunc(s.Mutants, func(m Mutant) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Mutants[i]
}
