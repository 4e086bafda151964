package model

import (
	"fmt"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

// service is a plain mutable implementation of a specification, independent of its
// Step: do returns the answer.
type service interface {
	do(input any) any
	clone() service
}

type word uint64

func (w *word) clone() service { c := *w; return &c }
func (w *word) do(input any) any {
	switch in := input.(type) {
	case RegisterWrite:
		*w = word(in.Value)
		return Done{}
	case RegisterCAS:
		if uint64(*w) != in.Old {
			return RegisterSwapped{}
		}
		*w = word(in.New)
		return RegisterSwapped{true}
	}
	return RegisterValue{uint64(*w)}
}

type table map[string]string

func (m table) clone() service {
	c := table{}
	for k, v := range m {
		c[k] = v
	}
	return c
}
func (m table) do(input any) any {
	switch in := input.(type) {
	case KVPut:
		m[in.Key] = in.Value
	case KVAppend:
		m[in.Key] += in.Value
	case KVDelete:
		delete(m, in.Key)
	case KVCAS:
		v, ok := m[in.Key]
		if ok && v == in.Old {
			m[in.Key] = in.New
			return KVSwapped{true}
		}
		return KVSwapped{}
	case KVGet:
		v, ok := m[in.Key]
		return KVValue{v, ok}
	}
	return Done{}
}

type list []string

func (l *list) clone() service { c := slices.Clone(*l); return &c }
func (l *list) do(input any) any {
	switch in := input.(type) {
	case LogAppend:
		*l = append(*l, in.Data)
		return LogIndex{len(*l) - 1}
	case LogRead:
		return LogEntries{slices.Clone((*l)[min(in.From, len(*l)):])}
	}
	return Done{}
}

type disk []byte

func (d *disk) clone() service { c := slices.Clone(*d); return &c }
func (d *disk) do(input any) any {
	switch in := input.(type) {
	case FilePwrite:
		for i := range len(in.Data) {
			for len(*d) <= int(in.Off)+i {
				*d = append(*d, 0)
			}
			(*d)[int(in.Off)+i] = in.Data[i]
		}
	case FileTruncate:
		for len(*d) < int(in.Size) {
			*d = append(*d, 0)
		}
		*d = (*d)[:in.Size]
	case FileSize:
		return FileSizeIs{int64(len(*d))}
	case FilePread:
		var out []byte
		for i := int(in.Off); i < len(*d) && i < int(in.Off)+in.N; i++ {
			out = append(out, (*d)[i])
		}
		return FileData{string(out)}
	}
	return Done{}
}

type blocks [4]byte

func (b *blocks) clone() service { c := *b; return &c }
func (b *blocks) do(input any) any {
	put := func(w MemoryWrite) {
		for i := range len(w.Data) {
			b[w.Addr+i] = w.Data[i]
		}
	}
	switch in := input.(type) {
	case MemoryWrite:
		put(in)
	case MemoryWriteAll:
		for _, w := range in.List {
			put(w)
		}
	case MemoryRead:
		return MemoryData{string(b[in.Addr : in.Addr+in.N])}
	}
	return Done{}
}

// kind is a specification with its plain implementation and its operations.
type kind struct {
	spec   Spec
	double func() service
	input  *rapid.Generator[any]
}

func kinds() map[string]kind {
	value := rapid.Uint64Range(0, 2)
	text := rapid.SampledFrom([]string{"", "a", "b"})
	key := rapid.SampledFrom([]string{"k", "l"})
	off := rapid.Int64Range(0, 3)
	return map[string]kind{
		"register": {Register{}, func() service { return new(word) }, rapid.Custom(func(t *rapid.T) any {
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				return RegisterWrite{value.Draw(t, "v")}
			case 1:
				return RegisterCAS{value.Draw(t, "old"), value.Draw(t, "new")}
			}
			return RegisterRead{}
		})},
		"kv": {KV{}, func() service { return table{} }, rapid.Custom(func(t *rapid.T) any {
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				return KVPut{key.Draw(t, "k"), text.Draw(t, "v")}
			case 1:
				return KVAppend{key.Draw(t, "k"), text.Draw(t, "v")}
			case 2:
				return KVDelete{key.Draw(t, "k")}
			case 3:
				return KVCAS{key.Draw(t, "k"), text.Draw(t, "old"), text.Draw(t, "new")}
			}
			return KVGet{key.Draw(t, "k")}
		})},
		"append-log": {AppendLog{}, func() service { return new(list) }, rapid.Custom(func(t *rapid.T) any {
			if rapid.Bool().Draw(t, "append") {
				return LogAppend{text.Draw(t, "v")}
			}
			return LogRead{From: rapid.IntRange(0, 3).Draw(t, "from")}
		})},
		"file": {File{}, func() service { return new(disk) }, rapid.Custom(func(t *rapid.T) any {
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0, 1:
				return FilePwrite{off.Draw(t, "off"), text.Draw(t, "v")}
			case 2:
				return FileTruncate{off.Draw(t, "size")}
			case 3:
				return FileSize{}
			}
			return FilePread{off.Draw(t, "off"), 2}
		})},
		"memory": {Memory{Bytes: 4}, func() service { return new(blocks) }, rapid.Custom(func(t *rapid.T) any {
			write := func() MemoryWrite { return MemoryWrite{int(off.Draw(t, "addr")), text.Draw(t, "v")} }
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				return write()
			case 1:
				return MemoryWriteAll{[]MemoryWrite{write(), write()}}
			}
			return MemoryRead{rapid.IntRange(0, 2).Draw(t, "addr"), 2}
		})},
	}
}

// overlapped draws a sequential run of n operations and stretches each into an interval
// around its moment. Some replies are lost; such an operation may have happened or not.
func overlapped(t *rapid.T, k kind, n int) []porcupine.Operation {
	s := k.double()
	ops := make([]porcupine.Operation, n)
	for i := range ops {
		at := int64(10 * (i + 1))
		op := porcupine.Operation{ClientId: i, Input: k.input.Draw(t, "input")}
		op.Call = at - rapid.Int64Range(0, 35).Draw(t, "before")
		op.Return = at + rapid.Int64Range(0, 35).Draw(t, "after")
		lost := rapid.IntRange(0, 5).Draw(t, "lost")
		if lost != 1 {
			op.Output = s.do(op.Input)
		}
		if lost <= 1 {
			op.Output, op.Return = NoReply{}, Never
		}
		ops[i] = op
	}
	return ops
}

// bruteForce tries every order that agrees with real time. Operations without a reply
// may also be left out.
func bruteForce(s service, ops []porcupine.Operation) bool {
	open := false
	for i, op := range ops {
		open = open || !isNoReply(op.Output)
		if slices.ContainsFunc(ops, func(o porcupine.Operation) bool { return o.Return < op.Call }) {
			continue // another one returned before this one was called
		}
		c := s.clone()
		out := c.do(op.Input)
		if !isNoReply(op.Output) && fmt.Sprint(out) != fmt.Sprint(op.Output) {
			continue
		}
		if bruteForce(c, slices.Delete(slices.Clone(ops), i, i+1)) {
			return true
		}
	}
	return !open // only operations without a reply remain
}

func forEachKind(t *testing.T, property func(t *rapid.T, k kind)) {
	for name, k := range kinds() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { property(t, k) }))
	}
}

func TestStretchedSequentialRunsAreOk(t *testing.T) {
	forEachKind(t, func(t *rapid.T, k kind) {
		ops := overlapped(t, k, rapid.IntRange(0, 25).Draw(t, "n"))
		if r := CheckOperations(k.spec, ops, Budget{}); r.Verdict != Ok {
			t.Fatalf("%v\n%s", r, Explain(k.spec, r, Budget{}))
		}
	})
}

func TestCheckAgreesWithBruteForceOnMutatedOutputs(t *testing.T) {
	illegal := 0
	forEachKind(t, func(t *rapid.T, k kind) {
		ops := overlapped(t, k, rapid.IntRange(1, 5).Draw(t, "n"))
		// Outputs of another run, if of the right type, are wrong in plausible ways.
		for i := range ops {
			if rapid.IntRange(0, 2).Draw(t, "mutate") == 0 && !isNoReply(ops[i].Output) {
				s := k.double()
				for range 3 {
					s.do(k.input.Draw(t, "other"))
				}
				ops[i].Output = s.do(ops[i].Input)
			}
		}
		want := Illegal
		if bruteForce(k.double(), ops) {
			want = Ok
		} else {
			illegal++
		}
		if r := CheckOperations(k.spec, ops, Budget{}); r.Verdict != want {
			t.Fatalf("got %v, want %v: %v", r, want, ops)
		}
	})
	if illegal == 0 {
		t.Error("no mutated history was illegal: the test tests nothing")
	}
}
