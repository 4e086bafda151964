// Package lang is the language of litmus tests, apart from how they run: the tree of a
// [Test], [Parse], which reads one, and [Format], which writes one in its canonical form.
// docs/litmus.md is the whole grammar.
//
// Parse checks the grammar. Whether the names in a test mean something is checked by
// package litmus, which runs tests; [Test.ErrorAt] lets it report mistakes in the same way.
package lang
