package command

import (
	"fmt"
	"io"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/faults"
)

// grammar is the grammar of a fault budget, as package faults documents it.
const grammar = `budget  = "" | "none" | rule { "," rule } .
rule    = kind "(" pattern [ "," pattern ] ")" "<=" count .
pattern = char { char } .                 * stands for any characters but a slash
count   = digit { digit } .

Each rule limits one kind of fault; faults without a rule never happen. If several
rules match a fault, each must have budget left, and each is charged.

  crash(app)<=1, crash(peer*)<=1, partition(app,peer1)<=1
`

// meanings describes each kind of fault.
var meanings = map[faults.Kind]string{
	faults.Crash:     "The process dies: its memory, tasks and connections are lost; persistent memory stays.",
	faults.Power:     "The host loses power: in addition to a crash, everything outside the persistence domain is lost.",
	faults.Partition: "The link between two hosts is cut, and may heal at any later point, or never.",
	faults.Cut:       "The link between two hosts is cut and never heals.",
	faults.Suspect:   "The others presume the host dead and replace it, while it continues as a zombie.",
	faults.Revoke:    "The host deregisters the memory that it lent, at any point.",
	faults.Break:     "The connections of two hosts fail because acknowledgements were lost; what was in flight may have executed.",
	faults.Timeout:   "A timer of the host fires although nothing is wrong. Under --timers idle no other fires while anything can happen.",
	faults.Flip:      "A media error flips a bit of the host's persistent memory.",
	faults.Poison:    "A media error makes some of the host's persistent memory unreadable until it is rewritten.",
	faults.Ghost:     "A delayed packet of an old connection is accepted by a new connection that reuses its sequence number.",
}

// listedFault is a kind of fault in --json.
type listedFault struct {
	Kind    string `json:"kind"`
	Hosts   int    `json:"hosts"`
	Meaning string `json:"meaning"`
}

func listFaults(w io.Writer, asJSON bool) error {
	t := cli.NewTable(cli.Row{"fault", "what it does"}).Wrapped(22, 80).Separated()
	for _, k := range faults.Kinds() {
		if asJSON {
			if err := cli.Lines(w).Encode(listedFault{k.String(), k.Arity(), meanings[k]}); err != nil {
				return err
			}
			continue
		}
		t.AppendRow(cli.Row{k.String() + map[int]string{1: "(host)", 2: "(host,host)"}[k.Arity()], meanings[k]})
	}
	if asJSON {
		return nil
	}
	if err := t.Render(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", grammar)
	return err
}

// listedProfile is a profile in --json.
type listedProfile struct {
	Name  string        `json:"name"`
	Knobs []faults.Knob `json:"knobs"`
}

func listProfiles(w io.Writer, asJSON bool) error {
	if asJSON {
		for _, p := range faults.Profiles() {
			if err := cli.Lines(w).Encode(listedProfile{p.Name, p.Knobs()}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := knobValues().Render(w); err != nil {
		return err
	}
	if _, err := fmt.Fprint(w, "\nTo change a knob of a profile, use a plus: relaxed+CellBytes=1+AtomicGlob=true\n\n"); err != nil {
		return err
	}
	return knobMeanings().Render(w)
}

// knobValues has a row for each knob and a column for each profile.
func knobValues() *cli.Table {
	all := faults.Profiles()
	head := cli.Row{"knob"}
	for _, p := range all {
		head = append(head, p.Name)
	}
	t := cli.NewTable(head)
	for i, k := range faults.Profiles()[0].Knobs() {
		row := cli.Row{k.Name}
		for _, p := range all {
			row = append(row, p.Knobs()[i].Value)
		}
		t.AppendRow(row)
	}
	return t
}

// knobMeanings has a row for each knob.
func knobMeanings() *cli.Table {
	t := cli.NewTable(cli.Row{"knob", "values", "meaning", "promised by", "known from"}).Wrapped(18, 14, 36, 20, 24).Separated()
	for _, k := range faults.Profiles()[0].Knobs() {
		t.AppendRow(cli.Row{k.Name, k.Legal, k.Meaning, k.Promise, k.Source})
	}
	return t
}
