package timeline

// Row is a row of a timeline for other viewers, as [Write] prints it.
type Row struct {
	Step, Last int        // its steps
	Marked     bool       // a fault or the violation
	Cells      [][]string // by host, what happened there; may be empty
	Up         []bool     // which hosts are up afterwards
	Sources    []string   // lines of the protocol, as file:line
	Events     []int      // in Run.Events
}

// Rows returns the rows of a timeline, and how many events it omits.
func Rows(r *Run, all bool) (rows []Row, left int) {
	drawn, left := rowsOf(r, all)
	if !all {
		drawn = fold(drawn)
	}
	for _, x := range drawn {
		x.Marked = x.isMarked()
		rows = append(rows, x.Row)
	}
	return rows, left
}
