// Package semantics is the reference machine.
package semantics
