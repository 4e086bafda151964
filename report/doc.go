// Package report makes one page of checks: what was checked within which bounds, the
// verdicts and what they rest on, how the space was covered, which lines of the
// protocol were reached, and the matrix of assumptions.
//
// The page is one file without a script. It makes no requests: its content security
// policy allows no connection. The page is a tree of golang.org/x/net/html, which escapes
// names and texts when it writes them, so that a hostile name cannot become markup.
// Charts are drawn in SVG in the page, beside or above a table that has their numbers.
package report
