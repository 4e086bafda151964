// Package mirror is the example of the tutorial, docs/tutorial.md: a register of one
// word that is kept on several hosts, and how to check it.
//
// mirror.go serves, opens and reads the register, write.go writes it, wrong.go has two
// ways to write it that look right and are wrong, and scenario.go defines the scenario.
package mirror
