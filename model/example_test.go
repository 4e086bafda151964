package model_test

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/model"
)

// A read returns an old value after a write has returned.
func Example() {
	var h model.History
	w, _ := h.Invoke(0, model.RegisterWrite{Value: 7}, 1)
	_ = h.Return(w, model.Done{}, 4)
	r, _ := h.Invoke(1, model.RegisterRead{}, 6)
	_ = h.Return(r, model.RegisterValue{Value: 0}, 9)

	result := model.Check(model.Register{}, &h, model.Budget{})
	fmt.Println(result.Verdict)
	fmt.Print(model.Explain(model.Register{}, result, model.Budget{}))
	// Output:
	// illegal
	// register: no order of these 2 operations explains their outputs; the longest that does:
	//   client 0 [1, 4] write(7) -> ok
	// then the state is 7, and none of these can be next:
	//   client 1 [6, 9] read() -> 0
}

// The client dies before the answer: its write may take effect or not, but it cannot
// appear and vanish.
func ExampleHistory_Crash() {
	var h model.History
	_, _ = h.Invoke(0, model.KVPut{Key: "k", Value: "new"}, 1)
	_ = h.Crash(0, 2)
	for i, v := range []model.KVValue{{Value: "new", Found: true}, {}} {
		r, _ := h.Invoke(1, model.KVGet{Key: "k"}, int64(10*i+10))
		_ = h.Return(r, v, int64(10*i+15))
		fmt.Println(model.Check(model.KV{}, &h, model.Budget{}).Verdict)
	}
	// Output:
	// ok
	// illegal
}

// A budget that is too small gives no verdict, the same on every machine.
func ExampleBudget() {
	var h model.History
	for i := range 10 {
		_, _ = h.Invoke(i, model.LogAppend{Data: fmt.Sprint(i)}, 0)
	}
	r, _ := h.Invoke(10, model.LogRead{}, 1)
	_ = h.Return(r, model.LogEntries{Entries: []string{"?"}}, 2)

	result := model.Check(model.AppendLog{}, &h, model.Budget{Steps: 100})
	fmt.Println(result)
	fmt.Println(errors.Is(result.Why, model.ErrStepBudget))
	// Output:
	// unknown after 100 steps: model: step budget spent
	// true
}

// Two writes were acknowledged and recovery returns only the first.
func ExampleLogFile() {
	var f model.LogFile
	for i, data := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"} {
		w, _ := f.Begin(int64(16*i), []byte(data))
		_ = f.Ack(w)
	}
	err := f.Recovered([]byte("aaaaaaaaaaaaaaaa"))
	fmt.Println(err)

	var v *model.Violation
	if errors.As(err, &v) {
		fmt.Println(v.Class())
	}
	// Output:
	// acknowledged write 2 (16 bytes at 16) is missing from what recovery returned: byte 16 is 0x00, want 0x62
	// lost-acknowledged-write
}

// The write in flight at the crash may be torn; the first recovery decides its content
// for good.
func ExampleLogFile_Recovered() {
	var f model.LogFile
	_, _ = f.Begin(0, []byte("abcd"))
	fmt.Println(f.Recovered([]byte("ab")))
	fmt.Println(f.Recovered([]byte("abcd")))
	// Output:
	// <nil>
	// recovery 2 contradicts recovery 1: byte 2 is 0x63, want 0x00
}

// A list of writes commits as one. A read that sees half of it is wrong, also if the
// list was never acknowledged.
func ExampleMemory() {
	spec := model.Memory{Bytes: 2}
	for _, seen := range []string{"ab", "\x00\x00", "a\x00"} {
		var h model.History
		_, _ = h.Invoke(0, model.MemoryWriteAll{List: []model.MemoryWrite{{Addr: 0, Data: "a"}, {Addr: 1, Data: "b"}}}, 1)
		_ = h.Crash(0, 2)
		r, _ := h.Invoke(1, model.MemoryRead{Addr: 0, N: 2}, 3)
		_ = h.Return(r, model.MemoryData{Data: seen}, 4)
		fmt.Printf("%q %v\n", seen, model.Check(spec, &h, model.Budget{}).Verdict)
	}
	// Output:
	// "ab" ok
	// "\x00\x00" ok
	// "a\x00" illegal
}
