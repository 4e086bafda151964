// Package schema is what those who make mutants by machine and those who judge them agree on:
// the mutants, the program that has all of them in it (a "mutant schema": Untch, Offutt,
// Harrold 1993), and the environment variables by which it is told which one is on.
//
// Package generate makes a [Set], which takes the types of Go programs; package mutant judges
// it, and needs none. So a command that checks is built without the former.
package schema

import "slices"

const (
	// Selects is the environment variable with the number of the mutant that is on.
	Selects = "VERBATIM_MUTANT"
	// Notes is the one with the name of a file to which the program adds the number of each
	// mutant whose place it comes to, once.
	Notes = "VERBATIM_MUTANT_REACHED"
	// Memory is the one with the bytes that the program may take.
	Memory = "VERBATIM_MUTANT_MEMORY"
	// TooMuch is the exit status of a program that took more.
	TooMuch = 86
)

// Mutant is one change.
type Mutant struct {
	// ID is the function, the operator and an ordinal among the mutants of both, so that it
	// stays the same when other functions are edited.
	ID       string   `json:"id"`
	Number   int      `json:"-"` // its value of [Selects]
	Operator Operator `json:"operator"`
	Function string   `json:"function"`
	File     string   `json:"file"` // from the root of the source tree
	Line     int      `json:"line"`
	Before   string   `json:"before"`
	After    string   `json:"after"`
}

// Set is all mutants of some packages.
type Set struct {
	Mutants []Mutant `json:"mutants"` // each has its place here, from 1, as its number
	// Files are the sources with the mutants in them, by their names from the root.
	Files map[string][]byte `json:"files"`
}

// Add gives a mutant its number, and puts it into the set.
func (s *Set) Add(m Mutant) int {
	m.Number = len(s.Mutants) + 1
	s.Mutants = append(s.Mutants, m)
	return m.Number
}

// Find is the mutant with an ID, or nil.
func (s *Set) Find(id string) *Mutant {
	i := slices.IndexFunc(s.Mutants, func(m Mutant) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Mutants[i]
}
