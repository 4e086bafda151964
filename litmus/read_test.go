package litmus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

const (
	header0 = "litmus t\ndoc d\nsource s\nrule r\nhosts A B\ndram A: a\ndram B: x y[16]\n"
	verdict = "\nexists done(A)\n  * Y\n"
)

// Errors name the place, what was found, and what was perhaps meant.
func TestErrors(t *testing.T) {
	thread := func(stmts string) string { return header0 + "thread A\n" + stmts + verdict }
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "1:1: the file ends and has no `litmus`; add `litmus NAME`"},
		{"no name first", "doc x\n", "1:1: the first line is `litmus NAME`"},
		{"section", header0 + "thred A\n", `8:1: expected a section (litmus, doc, source, rule, profiles, faults, hosts, dram, pmem, mr, cq, qp, show, thread, recover, exists), found "thred"; did you mean thread?`},
		{"statement", thread("  wirte x <- 1"), `9:3: expected a statement, found "wirte"; did you mean write?`},
		{"peer's location", thread("  write xx <- 1"), "9:9: no peer of A has a location xx; did you mean x?"},
		{"own location", thread("  write a <- 1"), "9:9: a is on A itself; a verb is about memory of a peer; use load and store"},
		{"not the CPU's", thread("  r = load x"), "9:12: A has no location x; it is a location of B"},
		{"beyond", thread("  write y[16] <- 1"), "9:9: y[16] reaches beyond y, which has 16 bytes"},
		{"lengths", thread("  write x <- a[0:4]"), "9:9: x has 8 bytes and the local side has 4; name as many bytes, as in x[0:16]"},
		{"value", thread("  write x[0:2] <- 0x12345"), "9:19: 0x12345 does not fit into 2 bytes"},
		{"register not set", thread("  write x <- a\n  if r == 1: stop"), "10:6: register r of thread A is not set before this"},
		{"impossible register", header0 + "thread A\n  r = load a\nexists A.q == 1\n  * N\n", "10:8: thread A never sets a register q"},
		{"status of a value", header0 + "thread A\n  r = load a\nexists r == SUCCESS\n  * N\n", "10:13: r is a number and SUCCESS is none"},
		{"number of a status", header0 + "thread A\n  s = write x <- 1\nexists s == 0\n  * N\n", "10:8: s and 0: a status is no number"},
		{"status", header0 + "thread A\n  s = write x <- 1\nexists s == SUCESS\n  * N\n", "10:13: no thread sets a register SUCESS, and no status or state has this name; did you mean SUCCESS?"},
		{"final memory", header0 + "thread A\n  r = load a\nexists x == 1\n  * N\n", "10:8: no thread sets a register x, and no status or state has this name; final memory is B:x"},
		{"two kinds", thread("  r = load a\n  r = write x <- 1"), "10:3: register r holds a value at line 9 and a status here"},
		{"label", thread("  write x <- 1 as w\n  wait v"), "10:3: no request of A before this is called v; give a request the label with `as v`, above"},
		{"two labels", thread("  write x <- 1 as w\n  write x <- 1 as w"), "10:3: there is a request called w already"},
		{"two locations", strings.Replace(thread(""), "y[16]", "x", 1), "7:11: B has two locations called x"},
		{"a location with a word of its own", strings.Replace(thread(""), "y[16]", "post", 1), "7:11: a location cannot be called post: the word has a meaning of its own"},
		{"a register with a word of its own", thread("  from = load a"), `9:3: a register cannot be called "from": the word has a meaning of its own`},
		{"a label with a word of its own", thread("  write x <- 1 as inline"), `9:19: a register cannot be called "inline": the word`},
		{"overlap", strings.Replace(thread(""), "y[16]", "(u v@4)", 1), "7:14: v at 4 overlaps u, which has the bytes 0 to 7"},
		{"host", header0 + "thread C\n stop" + verdict, "8:1: there is no host C; the hosts are A or B"},
		{"two threads", header0 + "thread A\nthread A" + verdict, "9:1: there are two threads called A; write thread A2 on A"},
		{"profile", header0 + "thread A\n stop\nexists done(A)\n  strnog N\n", `11:3: unknown profile: "strnog"; the profiles are strong, relaxed, ooo, srd, iba, rxe; did you mean strong?`},
		{"verdict", header0 + "thread A\n stop\nexists done(A)\n  strong yes\n", `11:3: a verdict is`},
		{"no verdict", header0 + "thread A\n stop\nexists done(A)\n", "10:1: the outcome has no verdict; add a line such as `* N`"},
		{"assignment", header0 + "thread A\n r = load a\nexists r = 1\n * N\n", `10:10: expected a comparison (==, !=, <=, >=, < or >), found "="; write ==`},
		{"faults", header0 + "faults crash(C)<=1\nthread A\n stop" + verdict, "C"},
		{"budget", header0 + "faults crsh(A)<=1\nthread A\n stop" + verdict, `expected a fault kind`},
		{"number", thread("  write x <- 99999999999999999999"), `9:14: "99999999999999999999" is not a number of at most 64 bits`},
		{"symbol", thread("  write x <- $"), `9:14: no statement has a '$'`},
		{"host's end", thread("  modify A-C ERR"), "9:3: A has no queue pair A-C"},
		{"nobody tells", thread("  hear m"), "9:3: no thread tells A the message m"},
		{"nobody hears", thread("  tell B m"), "9:3: no thread of B hears m"},
		{"one end", thread("  connect A-B"), "9:3: no thread of B connects A-B too: both ends must"},
		{"not connected", header0 + "thread A\n stop\nrecover A2 on A\n  write x <- 1" + verdict, "11:3: the queue pair A-B does not exist after a restart of A; `connect A-B` first"},
		{"not UTF-8", "litmus t\n\xff", "2:1: the file is not UTF-8 text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.text))
			var e *lang.Error
			if !errors.As(err, &e) || !errors.Is(err, lang.ErrTest) || e.File != "f" {
				t.Fatalf("got %v", err)
			}
			if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.Contains(first, tt.want) {
				t.Errorf("got  %s\nwant %s", first, tt.want)
			}
		})
	}
}

// Large files, and too many of anything, are an error at once.
func TestLimits(t *testing.T) {
	lines := header0 + "thread A\n" + strings.Repeat("  write x <- 1\n", 10_000) + verdict
	for name, tt := range map[string]struct{ text, want string }{
		"statements": {lines, "thread A has more than 200 statements"},
		"bytes":      {strings.Repeat("# nothing\n", 200_000), "a test has at most 1048576"},
		"hosts":      {strings.Replace(header0, "A B", "A B C D E F G H I", 1) + "thread A\n stop" + verdict, "at most 8"},
		"memory":     {header0 + "dram A: z[65537]\n", "it can be at most 65536"},
		"nesting":    {header0 + "thread A\n stop\nexists " + strings.Repeat("(", 500) + "\n", "nested more than 40 deep"},
		"maybe":      {header0 + "thread A\n" + strings.Repeat("maybe ", 500) + "stop\n", "nested more than 4 deep"},
		"outcomes":   {header0 + "thread A\n stop\n" + strings.Repeat("exists done(A)\n * Y\n", 1001), "more than 1000 outcomes"},
		"threads":    {header0 + strings.Repeat("thread A\n stop\n", 40), "more than 16 threads"},
	} {
		if _, err := Parse("f", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

// Whatever is read is its canonical form, and can be run: the interpreter breaks on none of it.
func TestGeneratedTestsRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := generate(t)
		test, err := Parse("generated", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := Parse("generated", []byte(lang.Format(test)))
		if d := cmp.Diff(test, again, cmpopts.IgnoreTypes(lang.Pos{}), cmpopts.IgnoreUnexported(lang.Test{})); err != nil || d != "" {
			t.Fatalf("the canonical form is another test: %v (-before +after):\n%s", err, d)
		}
		r, err := Run(test, rapid.SampledFrom([]string{"strong", "relaxed", "iba"}).Draw(t, "profile"), Options{MaxRuns: 60, NoRuns: true})
		if err != nil {
			t.Fatalf("%v\n%s", err, lang.Format(test))
		}
		if r.Reason != nil && !errors.Is(r.Reason, ErrLimit) && !errors.Is(r.Reason, ErrStuck) {
			t.Fatalf("%v\n%s", r.Reason, lang.Format(test))
		}
	})
}

// generate draws a test with many kinds of statements.
func generate(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("litmus g\ndoc d\nsource s\nrule r\nhosts A B\n" +
		"dram A: a (b c@64=3)\ndram B: x y[24]=1\npmem B: p\nmr k on B: x access=read\nqp q A -> B depth=8 B.access=write|read|atomic|flush-persistent\n")
	if rapid.Bool().Draw(t, "faults") {
		b.WriteString("faults " + rapid.SampledFrom([]string{"crash(B)<=1", "cut(A,B)<=1", "power(B)<=1", "break(A,B)<=1"}).Draw(t, "fault") + "\n")
	}
	flags := func() string {
		return rapid.SampledFrom([]string{"", " fence", " signaled fence", " unsignaled", " on q", " key=k", " key=bad", " solicited"}).Draw(t, "flags")
	}
	labels := 0
	n := rapid.IntRange(1, 4).Draw(t, "statements")
	b.WriteString("thread A\n r0 = load a\n")
	for i := range n {
		labels++
		w := fmt.Sprint("w", labels)
		post := rapid.SampledFrom([]string{"write x <- 1", "write y <- 2", "write y[8] <- a", "write y[0:16] <- [b c]", "read a <- x", "read y",
			"cas x 0 1", "faa x r0 + 1", "write x <- r0 imm=5", "awrite x <- 7", "flush p", "write p <- 1", "write x[4:4] <- 9"}).Draw(t, "post")
		p := fmt.Sprintf(" p%d = post %s%s as %s\n", i, post, flags(), w)
		b.WriteString(p)
		b.WriteString(rapid.SampledFrom([]string{"", fmt.Sprintf(" s%d = poll %s\n", i, w), " r1 = load b\n", " maybe store a <- 5\n", " mfence\n",
			" l = next q\n", fmt.Sprintf(" if p%d == OK: r2 = xadd a 1\n", i), " maybe cut A B\n", " r3 = cmpxchg b 0 1\n"}).Draw(t, "other"))
	}
	b.WriteString("thread B\n")
	for range rapid.IntRange(0, 3).Draw(t, "looks") {
		b.WriteString(rapid.SampledFrom([]string{" r1 = load x\n", " r2 = load y\n", " r3 = load y[20:1]\n", " store p <- 2\n", " clwb p\n",
			" until x == 1\n", " maybe crash B\n", " maybe power B\n", " pa = access q none\n", " pm = modify q ERR\n", " st = state q\n", " recv y[0:16] from A\n"}).Draw(t, "look"))
	}
	b.WriteString("exists ")
	b.WriteString(rapid.SampledFrom([]string{"B:x == 1", "r0 != 0 || !(B:y[8] == 2)", "blocked(A) && done(B)", "mixed(B:y)", "p0 == OK && A:a < 3",
		"!blocked(B) && (B:p == 1 || p0 != FULL)"}).Draw(t, "condition"))
	b.WriteString("\n * " + rapid.SampledFrom([]string{"Y", "N"}).Draw(t, "verdict") + " # why not\n")
	return b.String()
}

// Whatever is read has a scenario.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../testdata/litmus/*" + lang.Ext)
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		test, err := Parse("f", []byte(text))
		if err != nil {
			if !errors.Is(err, lang.ErrTest) {
				t.Fatalf("%v is no *lang.Error", err)
			}
			return
		}
		if _, err := Compile(test); err != nil {
			t.Fatal(err)
		}
	})
}
