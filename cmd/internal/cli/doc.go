// Package cli has the code that the commands of this module share: exit statuses,
// tables, lines of JSON, completions, and the progress display on a terminal.
package cli
