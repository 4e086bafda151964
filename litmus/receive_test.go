package litmus_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// messages is a test with one requester that sends and one responder that receives.
func messages(t *rapid.T) string {
	var b strings.Builder
	rnr := rapid.SampledFrom([]int{1, 7}).Draw(t, "rnr")
	fault := rapid.SampledFrom([]string{"", "", "", "faults crash(B)<=1\n", "faults partition(A,B)<=1\n"}).Draw(t, "fault")
	fmt.Fprintf(&b, "litmus messages\ndoc d\nsource s\nrule rnr\nhosts A B\ndram B: x y[16] z\nqp A -> B rnr=%d\n%s\nthread A\n", rnr, fault)
	show, later := "show B:x B:y B:z", ""
	for i := range rapid.IntRange(1, 3).Draw(t, "posts") {
		post := rapid.SampledFrom([]string{"send B <- 1", "send B <- [2 3]", "send B <- 4 fence", "write x <- 5", "write z <- 6 imm=9", "send B", "read x as r", "modify A-B ERR"}).Draw(t, "post")
		if strings.Contains(post, "read") {
			post = "read x"
		}
		if strings.HasPrefix(post, "modify") {
			fmt.Fprintf(&b, "  %s\n", post)
			continue
		}
		fmt.Fprintf(&b, "  %s as w%d\n", post, i)
		switch rapid.SampledFrom([]string{"now", "later", "never"}).Draw(t, "wait") {
		case "now":
			fmt.Fprintf(&b, "  s%d = wait w%d\n", i, i)
			show += fmt.Sprintf(" A.s%d", i)
		case "later":
			later += fmt.Sprintf("  s%d = wait w%d\n", i, i)
			show += fmt.Sprintf(" A.s%d", i)
		}
	}
	b.WriteString(later)
	b.WriteString("\nthread B\n")
	recvs, reset := 0, false
	for i := range rapid.IntRange(1, 4).Draw(t, "looks") {
		look := rapid.SampledFrom([]string{"recv x", "recv y", "recv [x z]", "load x", "load y[8]", "wait", "wait", "modify A-B ERR", "modify A-B RESET", "store x <- 7"}).Draw(t, "look")
		switch {
		case reset && (strings.HasPrefix(look, "recv") || strings.HasSuffix(look, "ERR")): // it would be refused
		case strings.HasPrefix(look, "recv"):
			fmt.Fprintf(&b, "  %s as v%d\n", look, recvs)
			recvs++
		case look == "wait" && recvs > 0:
			fmt.Fprintf(&b, "  t%d = wait v%d\n", i, recvs-1)
			show += fmt.Sprintf(" B.t%d", i)
		case strings.HasPrefix(look, "load"):
			fmt.Fprintf(&b, "  r%d = %s\n", i, look)
			show += fmt.Sprintf(" B.r%d", i)
		case look != "wait":
			reset = reset || strings.HasSuffix(look, "RESET")
			fmt.Fprintf(&b, "  %s\n", look)
		}
	}
	b.WriteString("  stop\n\nexists B:x == 0\n  * Y\n")
	return strings.Replace(b.String(), "qp A", show+"\nqp A", 1)
}

// Whatever meets on the two queues of a connection, the search reaches the same
// outcomes as a machine that makes each arrival, placement and completion a separate
// step.
func TestEagerReceives(t *testing.T) {
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		_ = seed.Value.Set("20261121") // the same programs each time; -rapid.seed=N tries others
		t.Cleanup(func() { _ = seed.Value.Set("0") })
	}
	tried, compared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tried++
		text := messages(t)
		test, err := litmus.Parse("messages", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s, err := litmus.Compile(test)
		if err != nil {
			t.Fatal(err)
		}
		opt := explore.Options{Profile: rapid.SampledFrom([]string{"strong", "relaxed"}).Draw(t, "profile"), Workers: 1}
		want, _, done, err := explore.Naive(s, opt, true, 3000)
		if err != nil {
			t.Fatal(err)
		}
		if !done {
			return // too large to compare
		}
		compared++
		r, err := explore.Check(s, opt)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatal(err, r.Verdict, r.Reason)
		}
		if d := cmp.Diff(want, r.Outcomes); d != "" {
			t.Fatalf("under %s: final states differ (-machine +search):\n%s\n%s", opt.Profile, d, text)
		}
	})
	if compared < tried/3 {
		t.Errorf("only %d of %d programs were small enough to compare", compared, tried)
	}
}
