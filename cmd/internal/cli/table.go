package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Row is a row of a table.
type Row = table.Row

// Table is a table whose rows are added with AppendRow, for [Render].
type Table struct {
	table.Writer
	columns []table.ColumnConfig
}

// NewTable returns a table without a border.
func NewTable(head Row) *Table {
	t := &Table{Writer: table.NewWriter()}
	t.AppendHeader(head)
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder = false
	t.SetStyle(style)
	return t
}

// Wrapped makes the columns wrap at these widths.
func (t *Table) Wrapped(widths ...int) *Table {
	for i, n := range widths {
		t.columns = append(t.columns, table.ColumnConfig{Number: i + 1, WidthMax: n, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(t.columns)
	return t
}

// Right aligns these columns, which count from 1, at the right.
func (t *Table) Right(columns ...int) *Table {
	for _, n := range columns {
		t.columns = append(t.columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(t.columns)
	return t
}

// Separated draws a line between two rows.
func (t *Table) Separated() *Table {
	t.Style().Options.SeparateRows = true
	return t
}

// Render writes the table.
func (t *Table) Render(w io.Writer) error {
	for line := range strings.SplitSeq(t.Writer.Render(), "\n") {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// Wrap breaks a text into lines of at most this width.
func Wrap(s string, width int) string { return text.WrapSoft(s, width) }
