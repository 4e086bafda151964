package report

import (
	"strconv"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// mutantsSection is the score of the mutants, those that survive, and those that make no
// difference.
func mutantsSection(r *Report) part {
	const name = "mutants"
	heading := text("Mistakes that are seen")
	if len(r.Mutants) == 0 {
		return section(name, heading, paragraph(r.NoMutants))
	}
	return section(name, heading,
		el("p", id("score"), text(score(r.Mutants), " A mutant is the code with one change, made by a machine; one that survives is a mistake that nobody would notice.")),
		operatorTable(r.Mutants),
		each(r.MutatedFiles, survivors),
		equivalentPart(equivalent(r.Mutants)))
}

// operatorTable is the score by operator.
func operatorTable(all []mutant.Judged) part {
	row := func(o operatorScore) part {
		counts := []int{o.Mutants, o.Scenario, o.Test, o.Equivalent, o.Survive}
		return el("tr", rowHead(code(string(o.Name))), cell(o.Does), each(counts, func(n int) part { return numeric(number.Commas(n)) }))
	}
	return table(group(columns("operator", "the mutant"), numbers("mutants", "by scenarios", "by tests", "equivalent", "survive")), each(byOperator(all), row))
}

// survivors are the mutants of a file that survive, below their lines if its source is known.
func survivors(f MutatedFile) part {
	if len(f.Survivors) == 0 {
		return nil
	}
	row := func(x mutant.Judged) part {
		return el("tr", cell(strconv.Itoa(x.Line)), rowHead(text(x.ID)), el("td", code(x.Before)), el("td", code(x.After)))
	}
	shown := table(columns("line", "mutant", "before", "after"), each(f.Survivors, row))
	if lines := excerpt(f); len(lines) > 0 {
		shown = listing("survivors of "+f.Name, lines)
	}
	title := f.Name + ": " + number.Commas(len(f.Survivors)) + " of " + number.Commas(f.Mutants) + " survive"
	return folded(title, class("survivors"), shown)
}

// equivalentPart are the mutants that make no difference.
func equivalentPart(list []mutant.Judged) part {
	row := func(x mutant.Judged) part {
		return el("tr", rowHead(text(x.ID)), el("td", code(x.Before)), el("td", code(x.After)), cell(x.Reason))
	}
	return when(len(list) > 0,
		folded(number.Commas(len(list))+" that make no difference, each with the reason",
			table(columns("mutant", "before", "after", "why no run can show it"), each(list, row))))
}
