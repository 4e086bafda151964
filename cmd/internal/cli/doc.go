// Package cli is what the commands of this module have in common: exit statuses, tables,
// lines of JSON, completions, and what a terminal shows while a command works.
package cli
