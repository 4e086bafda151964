// Package lang is the language of litmus tests, apart from how they run: the tree of a
// [Test], [Parse], which reads one, and [Format], which writes one in its canonical form.
// docs/litmus.md is the whole grammar.
//
// Parse checks the grammar. Package litmus, which runs tests, checks whether the names in a
// test mean something; [Test.ErrorAt] lets it report mistakes in the same way.
package lang
