package faults_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
)

func ExampleParseBudget() {
	b, err := faults.ParseBudget("crash( peer* )<=1,partition(app,peer1)<=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b)
	fmt.Println(b[1].Kind, b[1].Hosts, b[1].Max)
	// Output:
	// crash(peer*)<=1, partition(app,peer1)<=2
	// partition [app peer1] 2
}

func ExampleParseBudget_mistake() {
	_, err := faults.ParseBudget("crash(a)<=1,prtition(a,b)<=1")
	fmt.Println(err)
	// Output:
	// faults: syntax error at column 13: expected a fault kind (crash, power, partition, cut, suspect, revoke, break, timeout, flip, poison, ghost), found "prtition"; did you mean partition?
	//   crash(a)<=1,prtition(a,b)<=1
	//               ^
}

func ExampleBudget_Validate() {
	b, _ := faults.ParseBudget("crash(per*)<=1")
	fmt.Println(b.Validate([]string{"app", "peer1", "peer2"}))
	// Output:
	// faults: rule crash(per*)<=1: pattern "per*" matches no host; the hosts are app, peer1, peer2; did you mean peer1?
}

func ExampleBudget_Allows() {
	b, _ := faults.ParseBudget("crash(*)<=1")
	var spent faults.Spent
	fmt.Println(b.Allows(spent, faults.Crash, "app"))
	spent = b.Spend(spent, faults.Crash, "app")
	fmt.Println(b.Allows(spent, faults.Crash, "peer1"))
	// Output:
	// true
	// false
}

func ExampleProfileByName() {
	p, _ := faults.ProfileByName("relaxed+AtomicFlushes=false")
	fmt.Println(p.Name, p.Placement, p.AtomicFlushes)
	_, err := faults.ProfileByName("stong")
	fmt.Println(err)
	// Output:
	// relaxed+AtomicFlushes=false AnyOrder false
	// faults: unknown profile: "stong"; the profiles are strong, relaxed, ooo, srd, iba, rxe; did you mean strong?
}

func ExampleProfile_Knobs() {
	p, _ := faults.ProfileByName("iba")
	for _, k := range p.Knobs()[:2] {
		fmt.Printf("%s=%s: %s\n", k.Name, k.Value, k.Meaning)
	}
	// Output:
	// Placement=AnyOrder: the order in which the bytes of Writes reach the responder's memory
	// CellBytes=8: how many aligned bytes a concurrent observer never sees torn
}

func ExampleWeakerOrEqual() {
	iba, _ := faults.ProfileByName("iba")
	srd, _ := faults.ProfileByName("srd")
	fmt.Println(faults.WeakerOrEqual(iba, srd), faults.WeakerOrEqual(srd, iba))
	// Output: true false
}
