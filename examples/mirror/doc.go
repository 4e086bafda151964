// Package mirror is the example of the tutorial, docs/tutorial.md: a register of one
// word that is kept on several hosts, and how to check it.
//
// mirror.go serves and opens the register and reads it, write.go writes it,
// wrong.go holds two ways to write it that look right and are not, and scenario.go
// defines what to check.
package mirror
