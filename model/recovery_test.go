package model

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// script drives a LogFile whose calls cannot fail.
type script struct {
	t *testing.T
	f LogFile
}

func (s *script) write(off int64, data string) *script {
	s.t.Helper()
	must(s.f.Begin(off, []byte(data)))(s.t)
	return s
}
func (s *script) ack(i int) *script {
	s.t.Helper()
	check(s.t, s.f.Ack(i))
	return s
}
func (s *script) recover(content string) *script {
	s.t.Helper()
	check(s.t, s.f.Recovered([]byte(content)))
	return s
}

func TestRecovered(t *testing.T) {
	tests := map[string]struct {
		before  func(s *script)
		content string
		class   string // "" for accepted
		message string
	}{
		"nothing written, nothing returned":                     {func(s *script) {}, "", "", ""},
		"nothing written, zeros returned":                       {func(s *script) {}, "\x00\x00", "", ""},
		"nothing written, something returned":                   {func(s *script) {}, "\x00x", ClassForeignBytes, "recovery returned a byte that was never written there: byte 1 is 0x78, want 0x00"},
		"acknowledged write is there":                           {func(s *script) { s.write(0, "aa").ack(1) }, "aa", "", ""},
		"content may go on with zeros":                          {func(s *script) { s.write(0, "aa").ack(1) }, "aa\x00\x00", "", ""},
		"acknowledged write is lost":                            {func(s *script) { s.write(0, "aa").write(2, "bb").ack(2) }, "aa", ClassLostWrite, "acknowledged write 2 (2 bytes at 2) is missing from what recovery returned: byte 2 is 0x00, want 0x62"},
		"write before an acknowledged one is lost":              {func(s *script) { s.write(0, "aa").write(2, "bb").ack(2) }, "\x00\x00bb", ClassLostWrite, "acknowledged write 1 (2 bytes at 0) is missing from what recovery returned: byte 0 is 0x00, want 0x61"},
		"acknowledged write is torn":                            {func(s *script) { s.write(0, "aa").ack(1) }, "a", ClassLostWrite, ""},
		"older write on top of the newer":                       {func(s *script) { s.write(0, "aa").write(0, "bb").ack(2) }, "aa", ClassLostWrite, ""},
		"lost acknowledgement outranks a strange byte":          {func(s *script) { s.write(4, "aa").ack(1) }, "x", ClassLostWrite, ""},
		"unacknowledged write is there":                         {func(s *script) { s.write(0, "aa") }, "aa", "", ""},
		"unacknowledged write is not there":                     {func(s *script) { s.write(0, "aa") }, "", "", ""},
		"unacknowledged write is torn":                          {func(s *script) { s.write(0, "abc") }, "a\x00c", "", ""},
		"unacknowledged write torn over an old one":             {func(s *script) { s.write(0, "aaa").ack(1).write(0, "bbb") }, "aba", "", ""},
		"garbage in an unacknowledged write":                    {func(s *script) { s.write(0, "aaa") }, "axa", ClassForeignBytes, ""},
		"second unacknowledged write is torn":                   {func(s *script) { s.write(0, "aa").write(2, "bb") }, "aab", "", ""},
		"torn write before a whole one":                         {func(s *script) { s.write(0, "aa").write(2, "bb") }, "a\x00bb", ClassNotPrefix, "recovery returned bytes of write 2, but write 1 (2 bytes at 0) before it is not whole: byte 1 is 0x00, want 0x61"},
		"two torn writes":                                       {func(s *script) { s.write(0, "aa").write(2, "bb") }, "a\x00b", ClassNotPrefix, ""},
		"unacknowledged write is skipped":                       {func(s *script) { s.write(0, "aa").ack(1).write(2, "bb").write(4, "cc") }, "aa\x00\x00cc", ClassNotPrefix, "recovery returned bytes of write 3, but write 2 (2 bytes at 2) before it is not whole: byte 2 is 0x00, want 0x62"},
		"overlapping writes in the wrong order":                 {func(s *script) { s.write(0, "ab").write(0, "b").write(3, "c") }, "ab\x00c", ClassNotPrefix, ""},
		"torn write shows through to an older one":              {func(s *script) { s.write(0, "aa").write(0, "bb") }, "ab", "", ""},
		"second recovery returns the same":                      {func(s *script) { s.write(0, "aa").recover("a") }, "a", "", ""},
		"second recovery returns less":                          {func(s *script) { s.write(0, "aa").recover("aa") }, "a", ClassRecoveryChanged, "recovery 2 contradicts recovery 1: byte 1 is 0x00, want 0x61"},
		"second recovery returns more":                          {func(s *script) { s.write(0, "aa").recover("a") }, "aa", ClassRecoveryChanged, ""},
		"write after a recovery applies on top":                 {func(s *script) { s.write(0, "aaa").recover("a").write(1, "b").ack(2) }, "ab", "", ""},
		"write after a recovery is lost":                        {func(s *script) { s.write(0, "aaa").recover("a").write(1, "b").ack(2) }, "a", ClassLostWrite, ""},
		"what an earlier recovery settled is no write any more": {func(s *script) { s.write(0, "aa").ack(1).recover("aa") }, "a", ClassRecoveryChanged, ""},
		"the newest of two lost writes is named":                {func(s *script) { s.write(0, "aa").write(0, "bb").ack(2) }, "cc", ClassLostWrite, "acknowledged write 2 (2 bytes at 0)"},
		"empty write holds nothing up":                          {func(s *script) { s.write(900, "").write(0, "aa") }, "aa", "", ""},
	}
	sentinels := map[string]error{
		ClassLostWrite: ErrLostWrite, ClassNotPrefix: ErrNotPrefix,
		ClassRecoveryChanged: ErrRecoveryChanged, ClassForeignBytes: ErrForeignBytes,
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &script{t: t}
			tt.before(s)
			before := s.f.AppendState(nil)
			err := s.f.Recovered([]byte(tt.content))
			if tt.class == "" {
				check(t, err)
				return
			}
			var v *Violation
			if !errors.As(err, &v) || v.Class() != tt.class || !errors.Is(err, sentinels[tt.class]) {
				t.Fatalf("got %v, want class %s", err, tt.class)
			}
			if !strings.HasPrefix(err.Error(), tt.message) {
				t.Errorf("got  %v\nwant %s", err, tt.message)
			}
			if !bytes.Equal(before, s.f.AppendState(nil)) {
				t.Error("a violation changed the state")
			}
		})
	}
}

func TestLogFileRefusesBadUse(t *testing.T) {
	f := &LogFile{Capacity: 8}
	tests := map[string]struct {
		err, want error
	}{
		"negative offset":   {second(f.Begin(-1, nil)), ErrRange},
		"past the capacity": {second(f.Begin(7, []byte("ab"))), ErrRange},
		"overflow":          {second(f.Begin(1<<63-1, []byte("ab"))), ErrRange},
		"longer than all":   {second(f.Begin(0, make([]byte, 9))), ErrRange},
		"ack of nothing":    {f.Ack(1), ErrNotIssued},
		"ack of zero":       {f.Ack(0), ErrNotIssued},
		"negative ack":      {f.Ack(-1), ErrNotIssued},
	}
	for name, tt := range tests {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, tt.err, tt.want)
		}
	}
	must(f.Begin(6, []byte("ab")))(t) // up to the capacity
	check(t, f.Recovered(nil))
	if err := f.Ack(1); !errors.Is(err, ErrStaleAck) {
		t.Errorf("ack after a recovery: got %v", err)
	}
}

// Acknowledgements name writes by number: files that differ only in numbers have
// different futures while writes await acknowledgement.
func TestNumbersAreStateWhileWritesArePending(t *testing.T) {
	one, two := &script{t: t}, &script{t: t}
	one.write(0, "a")
	two.write(0, "x").recover("").write(0, "a")
	if one.f.Hash() == two.f.Hash() || bytes.Equal(one.f.AppendState(nil), two.f.AppendState(nil)) {
		t.Error("write 1 and write 2 are one")
	}
	one.recover("a")
	two.recover("a")
	if one.f.Hash() != two.f.Hash() || !bytes.Equal(one.f.AppendState(nil), two.f.AppendState(nil)) {
		t.Error("when it is settled, its number still is")
	}
}

// Bytes never written are zero, and trailing zeros are no part of the state.
func TestZerosAtTheEndAreNoState(t *testing.T) {
	one, two := &script{t: t}, &script{t: t}
	one.write(0, "a").ack(1)
	two.write(0, "a\x00\x00\x00\x00\x00\x00\x00\x00\x00").write(1<<29, "").ack(2) // which takes no memory either
	if one.f.Hash() != two.f.Hash() || !bytes.Equal(one.f.AppendState(nil), two.f.AppendState(nil)) {
		t.Error("zeros at the end make another state")
	}
	if n := len(two.f.Base(nil)); n > 16 {
		t.Errorf("the file has %d bytes", n)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAckOutOfOrder(t *testing.T) {
	s := &script{t: t}
	s.write(0, "a").write(1, "b").ack(2).ack(1).ack(2)
	if s.f.Acked() != 2 || s.f.Issued() != 2 {
		t.Errorf("acked %d of %d", s.f.Acked(), s.f.Issued())
	}
	if err := s.f.Recovered([]byte("a")); !errors.Is(err, ErrLostWrite) {
		t.Errorf("got %v", err)
	}
}

// A pipeline that is never empty makes the queue reclaim memory.
func TestLongPipelineKeepsItsWrites(t *testing.T) {
	var f LogFile
	want := make([]byte, 64)
	for i := range 1000 {
		data := []byte{byte(i), byte(i >> 8), 1}
		w := must(f.Begin(int64(i%60), data))(t)
		copy(want[i%60:], data)
		if w > 100 {
			check(t, f.Ack(w-100))
		}
	}
	if n := cap(f.pending.writes); n > 1000 {
		t.Errorf("room for %d writes with 100 in flight", n)
	}
	clone := f.Clone()
	check(t, f.Recovered(want))
	check(t, clone.Ack(1000))
	if f.Hash() != clone.Hash() || !bytes.Equal(bytes.TrimRight(clone.Base(nil), "\x00"), bytes.TrimRight(want, "\x00")) {
		t.Error("recovered and acknowledged contents differ")
	}
}

func TestSamePathsToOneFutureHashTheSame(t *testing.T) {
	build := func(run func(s *script)) *LogFile {
		s := &script{t: t}
		run(s)
		return &s.f
	}
	same := map[string][2]*LogFile{
		"overwritten bytes leave no trace": {
			build(func(s *script) { s.write(0, "aa").write(0, "bb").ack(2) }),
			build(func(s *script) { s.write(0, "bb").ack(1) })},
		"recovered or acknowledged": {
			build(func(s *script) { s.write(0, "aa").recover("aa") }),
			build(func(s *script) { s.write(0, "aa").ack(1) })},
		"zeros at the end": {
			build(func(s *script) { s.write(0, "a\x00\x00").ack(1) }),
			build(func(s *script) { s.write(0, "a").recover("a\x00\x00\x00\x00") })},
		"nothing yet, or reset": {
			build(func(s *script) {}),
			build(func(s *script) { s.write(0, "aa").ack(1).write(0, "bb"); s.f.Reset() })},
	}
	for name, p := range same {
		if p[0].Hash() != p[1].Hash() || !bytes.Equal(p[0].AppendState(nil), p[1].AppendState(nil)) {
			t.Errorf("%s: the hashes differ", name)
		}
	}
	different := map[string][2]*LogFile{
		"acknowledged or not": {
			build(func(s *script) { s.write(0, "aa") }),
			build(func(s *script) { s.write(0, "aa").ack(1) })},
		"order of writes": {
			build(func(s *script) { s.write(0, "aa").write(0, "bb") }),
			build(func(s *script) { s.write(0, "bb").write(0, "aa") })},
		"one write or two": {
			build(func(s *script) { s.write(0, "aabb") }),
			build(func(s *script) { s.write(0, "aa").write(2, "bb") })},
	}
	for name, p := range different {
		if p[0].Hash() == p[1].Hash() || bytes.Equal(p[0].AppendState(nil), p[1].AppendState(nil)) {
			t.Errorf("%s: the hashes are equal", name)
		}
	}
}

// slowLog is the invariant as in the paper: it keeps all writes, and tries all prefixes
// and all torn bytes.
type slowLog struct {
	base  []byte
	log   []issue
	acked int
}

type issue struct {
	off  int
	data []byte
}

const slowSize = 11

func (s *slowLog) recovered(content []byte) bool {
	content = append(bytes.Clone(content), make([]byte, slowSize)...)[:slowSize]
	for k := s.acked; k <= len(s.log); k++ {
		prefix := append(bytes.Clone(s.base), make([]byte, slowSize)...)[:slowSize]
		for _, w := range s.log[:k] {
			copy(prefix[w.off:], w.data)
		}
		n := 0
		if k < len(s.log) {
			n = len(s.log[k].data)
		}
		for subset := range 1 << n {
			torn := bytes.Clone(prefix)
			for i := range n {
				if subset>>i&1 == 1 {
					torn[s.log[k].off+i] = s.log[k].data[i]
				}
			}
			if bytes.Equal(torn, content) {
				*s = slowLog{base: content}
				return true
			}
		}
	}
	return false
}

func TestLogFileAgreesWithBruteForce(t *testing.T) {
	accepted, refused := 0, 0
	letter := rapid.SampledFrom([]byte{0, 'a', 'b'})
	rapid.Check(t, func(t *rapid.T) {
		var fast LogFile
		var slow slowLog
		copied := new(LogFile)
		first := 0 // number of the write before slow.log[0]
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0, 1:
				off := rapid.IntRange(0, slowSize-1).Draw(t, "off")
				data := rapid.SliceOfN(letter, 0, min(3, slowSize-off)).Draw(t, "data")
				if i, err := fast.Begin(int64(off), data); err != nil || i != first+len(slow.log)+1 {
					t.Fatal(i, err)
				}
				slow.log = append(slow.log, issue{off, bytes.Clone(data)})
			case 2:
				if len(slow.log) > 0 {
					i := rapid.IntRange(1, len(slow.log)).Draw(t, "ack")
					slow.acked = max(slow.acked, i)
					if err := fast.Ack(first + i); err != nil {
						t.Fatal(err)
					}
				}
			default:
				content := drawContent(t, slow, letter)
				issued := first + len(slow.log)
				want := slow.recovered(content)
				err := fast.Recovered(content)
				if (err == nil) != want {
					t.Fatalf("brute force %v, LogFile %v", want, err)
				}
				if want {
					first, accepted = issued, accepted+1
				} else {
					refused++
					checkWords(t, err, content)
				}
			}
			copied.CopyFrom(&fast)
			if copied.Hash() != fast.Hash() || !bytes.Equal(copied.AppendState(nil), fast.AppendState(nil)) {
				t.Fatal("the copy differs")
			}
			if len(fast.base)%8 != 0 || sumWords(0, fast.base) != fast.baseSum {
				t.Fatal("the incremental sum is off")
			}
			if rapid.Bool().Draw(t, "go on with a copy") {
				fast = *fast.Clone()
			}
		}
	})
	t.Logf("%d contents accepted, %d refused", accepted, refused)
	if accepted == 0 || refused == 0 {
		t.Error("one side was never tested")
	}
}

// drawContent draws a content close to that of the writes, so that both verdicts are
// common.
func drawContent(t *rapid.T, s slowLog, letter *rapid.Generator[byte]) []byte {
	content := append(bytes.Clone(s.base), make([]byte, slowSize)...)[:slowSize]
	for _, w := range s.log {
		for i, b := range w.data {
			if rapid.IntRange(0, 4).Draw(t, "there") > 0 {
				content[w.off+i] = b
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "damage") == 0 {
		content[rapid.IntRange(0, slowSize-1).Draw(t, "at")] = letter.Draw(t, "byte")
	}
	return content[:rapid.IntRange(slowSize-1, slowSize).Draw(t, "length")]
}

// checkWords checks that a violation matches the content.
func checkWords(t *rapid.T, err error, content []byte) {
	var v *Violation
	if !errors.As(err, &v) {
		t.Fatalf("not a violation: %v", err)
	}
	if v.At < 0 || v.Got == v.Want || byteAt(content, v.At) != v.Got {
		t.Fatalf("%v, but the content is %q", v, content)
	}
	named := v.Class() == ClassLostWrite || v.Class() == ClassNotPrefix
	if named && (v.Write < 1 || v.At < v.Off || v.At >= v.Off+v.Len) {
		t.Fatalf("%v, which is not a byte of the write", v)
	}
}
