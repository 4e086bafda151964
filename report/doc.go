// Package report makes one page of checks: what was checked within which bounds, the
// verdicts and what they rest on, how the space was covered, which lines of the
// protocol were reached, and the matrix of assumptions.
//
// The page is one file without a script. It asks nobody for anything: its content
// security policy allows no connection. Names and texts get into it by html/template,
// so that a hostile name stays a name. Charts are pictures in SVG, by gonum.org/v1/plot,
// once for light and once for dark screens, and each has its numbers in a table under it.
package report
