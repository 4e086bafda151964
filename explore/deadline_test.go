package explore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// limitedT is a test with a deadline.
type limitedT struct {
	fakeT
	at time.Time
}

func (l *limitedT) Deadline() (time.Time, bool) { return l.at, !l.at.IsZero() }

// go test panics at its deadline and prints goroutines; a check must give its verdict before.
func TestACheckEndsBeforeTheDeadlineOfGoTest(t *testing.T) {
	t.Setenv(explore.EnvOut, t.TempDir())
	near := &limitedT{at: time.Now().Add(time.Second)} // a second is left for what comes after the search
	explore.Test(near, flagBeforeData())
	wants(t, &near.fakeT, true, "the deadline of go test ended the search after 0 runs", "nothing is verified", "-timeout")

	far := &limitedT{at: time.Now().Add(time.Hour)}
	explore.Test(far, flagBeforeData())
	wants(t, &far.fakeT, false, "verified")

	none := &limitedT{}
	explore.Test(none, flagBeforeData())
	wants(t, &none.fakeT, false, "verified")
}

// A deadline is no limit that the caller set: a strategy that samples makes as many runs as without one.
func TestADeadlineLeavesTheNumberOfSamples(t *testing.T) {
	far := &limitedT{at: time.Now().Add(time.Hour)}
	explore.Test(far, flagBeforeData(), explore.Options{Strategy: explore.Random})
	wants(t, &far.fakeT, false, "clean", "10000 runs")
}

// What the caller asked to stop stops although there is a deadline, and is not blamed on it.
func TestADeadlineDoesNotReplaceStop(t *testing.T) {
	far := &limitedT{at: time.Now().Add(time.Hour)}
	explore.Test(far, flagBeforeData(), explore.Options{Stop: func() bool { return true }})
	wants(t, &far.fakeT, true, "a limit ended the search")
	if strings.Contains(far.text.String(), "deadline of go test") {
		t.Errorf("the deadline is blamed:\n%s", far.text.String())
	}
}

func TestProgressIsReportedNowAndThen(t *testing.T) {
	f, asked := &fakeT{}, 0
	report := explore.Reporter(f, 5*time.Second, func(explore.Progress) { asked++ })
	for s := range 12 {
		report(explore.Progress{Scenario: "mine/two", Runs: 7, States: 3, Frontier: 2, Elapsed: time.Duration(s) * time.Second})
	}
	want := "mine/two: 7 runs, 3 states after 5s, 2 branches open\nmine/two: 7 runs, 3 states after 10s, 2 branches open\n"
	if f.text.String() != want || asked != 12 {
		t.Errorf("the log is\n%sand the caller's function was called %d times; want\n%sand 12", f.text.String(), asked, want)
	}
}
