package report

import (
	"fmt"
	"strconv"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// checkSection is the section of one check.
func checkSection(v checkView) part {
	r := v.Result
	return section(v.id, group(text(r.Scenario, ": "), verdictMark(r.Verdict)),
		class("check"),
		paragraph(meaning(r)),
		found(v),
		facts(v),
		promisesPart(v),
		hardCases(r),
		el("h3", text("How the space was covered")),
		el("div", class("charts"),
			figure(depthChart(r)),
			figure(barChart("Choices inside steps, by kind", "choices", r.Space.Choices)),
			figure(barChart("Steps, by what happens", "steps", r.Space.Steps))),
		filesPart(v))
}

// found is the finding of the check, and how to view it.
func found(v checkView) part {
	var violation, undecided part
	if ce := v.Result.Counterexample; ce != nil {
		violation = el("p", class("broken"), el("b", text(ce.Class)), text(": ", ce.Message))
	}
	if err := v.Result.Reason; err != nil {
		undecided = el("p", class("broken"), text(err.Error()))
	}
	return group(violation,
		when(v.Run != "", el("p", el("a", class("run"), attr("href", local(v.Run)), text("Look at the run, step by step")))),
		when(v.Replay != "", el("p", text("In a terminal: "), code(v.Replay))),
		undecided)
}

// facts are the subject of the check, its bounds, and its speed.
func facts(v checkView) part {
	r := v.Result
	fact := func(name string, parts ...part) part { return group(el("dt", text(name)), el("dd", parts...)) }
	bounds := "none are stated"
	if r.Bounds != "" {
		bounds = r.Bounds
	}
	return el("dl", class("facts"),
		when(v.Scenario.Doc != "", fact("what is checked", text(v.Scenario.Doc))),
		fact("bounds", text(bounds)),
		fact("allowed faults", text(r.Faults)),
		fact("timers", text(r.Time()), when(r.Warning() != "", el("br"), el("b", text("Warning:")), text(" ", r.Warning()))),
		fact("cards", text(r.Profile), when(r.Strengthen != 0, text(", strengthened by ", r.Strengthen.String()))),
		fact("search", when(r.Strategy == explore.Exhaustive, text("exhaustive; ")), text(Ended(r))),
		fact("covered", covered(r)),
		fact("rates", rates(r)))
}

// covered is how much of the space was covered.
func covered(r *explore.Result) part {
	eager := Eager(r)
	return group(
		text(number.Commas(r.Runs), " runs"),
		when(r.Resumed > 0, text(", ", number.Commas(r.Resumed), " of them before the search was resumed")),
		when(r.States > 0, text(", ", number.Commas(r.States), " states")),
		text(", ", number.Commas(r.Choices), " choices inside steps, depth ", strconv.Itoa(r.MaxDepth)),
		when(eager != "", text("; the states stand for ", eager, " states in which every placement is a step")))
}

// rates is how fast the search was.
func rates(r *explore.Result) part {
	workers := fmt.Sprintf("%d workers", r.Workers)
	if r.Workers == 1 {
		workers = "1 worker"
	}
	return group(
		text(seconds(r.Elapsed), " with ", workers, ": ", rate(r.Runs, r.Elapsed), " runs"),
		when(r.States > 0, text(", ", rate(r.States, r.Elapsed), " states")),
		text(", ", rate(r.Steps, r.Elapsed), " simulated steps and ", rate(r.Posts, r.Elapsed), " work requests a second"))
}

// promisesPart is the basis of the verdict.
func promisesPart(v checkView) part {
	heading := el("h3", text("What the verdict rests on"))
	if len(v.promises) == 0 {
		return group(heading, paragraph("On no promise of cards that profile ", v.Result.Profile, " makes and the code makes use of."))
	}
	row := func(p Promise) part {
		without := "not known"
		if p.Without != "" {
			without = p.Without
		}
		return el("tr", rowHead(code(p.Knob, "=", p.Value)), cell(p.Meaning), cell(p.Who), cell(without))
	}
	return group(heading,
		paragraph("On cards that keep these promises of profile ", v.Result.Profile,
			". The code makes use of each, so about a card that does not keep one of them the verdict says nothing."),
		table(columns("promise", "what it means", "who promises it", "the matrix, without it"), each(v.promises, row), class("promises")))
}

// hardCases lists which conditions that should be met sometimes were met.
func hardCases(r *explore.Result) part {
	row := func(c explore.Condition) part { return el("tr", rowHead(text(c.Name)), cell(Met(r, c))) }
	return when(len(r.Sometimes) > 0,
		el("h3", text("Hard cases")),
		table(columns("condition", "met"), each(r.Sometimes, row)))
}

// filesPart is which lines of the protocol the check reached.
func filesPart(v checkView) part {
	row := func(f coverage.File) part {
		return el("tr", rowHead(text(f.Name)), cell(share(f.Reached, f.Statements)), cell(ranges(f.Never())))
	}
	return when(len(v.Files) > 0,
		el("h3", text("Lines of the protocol")),
		el("p", text(total(v.Files), " were reached"),
			when(v.Result.Resumed > 0, text(" since the search was resumed; what its earlier runs reached was not kept")), text(".")),
		folded("File by file, with the lines that were never reached in this check",
			table(columns("file", "reached", "lines never reached"), each(v.Files, row), class("files"))))
}
