package verbs

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

var allStates = []QPState{StateReset, StateInit, StateRTR, StateRTS, StateSQD, StateSQE, StateErr}

// each calls f for every single attribute in set.
func each(set Attr, f func(Attr)) {
	for rest := set; rest != 0; rest &= rest - 1 {
		f(Attr(1) << bits.TrailingZeros16(uint16(rest)))
	}
}

const allAttrs = AttrAltPath<<1 - 1

// wantRefusal checks that err is an ErrState with a text that ends in what.
func wantRefusal(t *testing.T, err error, what string) {
	t.Helper()
	if !errors.Is(err, ErrState) {
		t.Fatalf("got %v, want an ErrState", err)
	}
	if !strings.HasSuffix(err.Error(), what) {
		t.Fatalf("got %q, want it to end with %q", err, what)
	}
}

// The required attributes as ibv_modify_qp(3) lists them for IBV_QPT_RC, written out a
// second time to detect a slip in the table.
func TestRequiredAttributes(t *testing.T) {
	required := map[string]string{
		"RESET-INIT": "PORT|PKEY_INDEX|ACCESS_FLAGS",
		"INIT-RTR":   "AV|PATH_MTU|DEST_QPN|RQ_PSN|MAX_DEST_RD_ATOMIC|MIN_RNR_TIMER",
		"RTR-RTS":    "TIMEOUT|RETRY_CNT|RNR_RETRY|SQ_PSN|MAX_QP_RD_ATOMIC",
		"INIT-INIT":  "none", "RTS-RTS": "none", "RTS-SQD": "none", "SQD-RTS": "none", "SQD-SQD": "none",
		"SQE-RTS": "none",
	}
	for _, tr := range Transitions {
		name := fmt.Sprintf("%v-%v", tr.From, tr.To)
		if want, ok := required[name]; !ok || tr.Required.String() != want {
			t.Errorf("%s needs %v, want %s", name, tr.Required, want)
		}
		delete(required, name)
		if tr.Required&tr.Optional != 0 {
			t.Errorf("%s has %v both as required and as optional", name, tr.Required&tr.Optional)
		}
	}
	for name := range required {
		t.Errorf("%s is missing from the table, or is there twice", name)
	}
}

// The optional attributes that Linux accepts for a reliable connection, written out a
// second time.
func TestOptionalAttributes(t *testing.T) {
	optional := map[string]string{
		"RESET-INIT": "none", "INIT-INIT": "PORT|PKEY_INDEX|ACCESS_FLAGS", "INIT-RTR": "PKEY_INDEX|ACCESS_FLAGS|ALT_PATH",
		"RTR-RTS": "ACCESS_FLAGS|MIN_RNR_TIMER|ALT_PATH", "RTS-RTS": "ACCESS_FLAGS|MIN_RNR_TIMER|ALT_PATH",
		"RTS-SQD": "none", "SQD-RTS": "ACCESS_FLAGS|MIN_RNR_TIMER|ALT_PATH",
		"SQD-SQD": "PORT|PKEY_INDEX|ACCESS_FLAGS|AV|MAX_DEST_RD_ATOMIC|MIN_RNR_TIMER|TIMEOUT|RETRY_CNT|RNR_RETRY|" +
			"MAX_QP_RD_ATOMIC|ALT_PATH",
		"SQE-RTS": "none",
	}
	for _, tr := range Transitions {
		name := fmt.Sprintf("%v-%v", tr.From, tr.To)
		if want, ok := optional[name]; !ok || tr.Optional.String() != want {
			t.Errorf("%s may have %v, want %s", name, tr.Optional, want)
		}
	}
}

func TestCheckTransition(t *testing.T) {
	for _, tr := range Transitions {
		t.Run(fmt.Sprintf("%v-%v", tr.From, tr.To), func(t *testing.T) {
			for _, mask := range []Attr{tr.Required, tr.Required | tr.Optional} {
				if err := CheckTransition(tr.From, tr.To, mask); err != nil {
					t.Errorf("with %v: %v", mask, err)
				}
			}
			each(tr.Required, func(a Attr) {
				err := CheckTransition(tr.From, tr.To, tr.Required&^a)
				wantRefusal(t, err, fmt.Sprintf("%v to %v needs %v", tr.From, tr.To, a))
			})
			each(tr.Optional, func(a Attr) {
				if err := CheckTransition(tr.From, tr.To, tr.Required|a); err != nil {
					t.Errorf("with the optional %v: %v", a, err)
				}
			})
			each(allAttrs&^tr.Required&^tr.Optional, func(a Attr) {
				err := CheckTransition(tr.From, tr.To, tr.Required|a)
				wantRefusal(t, err, fmt.Sprintf("%v to %v does not take %v", tr.From, tr.To, a))
			})
		})
	}
}

func TestResetAndErrFromEverywhere(t *testing.T) {
	for _, from := range allStates {
		for _, to := range []QPState{StateReset, StateErr} {
			if from == StateReset && to == StateErr {
				continue // see TestUnreachableStates
			}
			if err := CheckTransition(from, to, 0); err != nil {
				t.Errorf("%v to %v: %v", from, to, err)
			}
			wantRefusal(t, CheckTransition(from, to, AttrAccess),
				fmt.Sprintf("%v to %v takes no attributes, got ACCESS_FLAGS", from, to))
		}
	}
}

func TestUnreachableStates(t *testing.T) {
	reachable := map[QPState]string{
		StateReset: "INIT, RESET", StateInit: "RTR, RESET, ERR", StateRTR: "RTS, RESET, ERR",
		StateRTS: "SQD, RESET, ERR", StateSQD: "RTS, RESET, ERR", StateSQE: "RTS, RESET, ERR",
		StateErr: "RESET, ERR",
	}
	refused := 0
	for _, from := range allStates {
		for _, to := range allStates {
			inTable := slices.ContainsFunc(Transitions, func(tr Transition) bool { return tr.From == from && tr.To == to })
			if inTable || to == StateReset || to == StateErr && from != StateReset {
				continue
			}
			refused++
			wantRefusal(t, CheckTransition(from, to, 0),
				fmt.Sprintf("%v to %v is not a transition; from %v one reaches %s", from, to, from, reachable[from]))
		}
	}
	if want := 7*7 - 7 - 6 - len(Transitions); refused != want {
		t.Errorf("%d pairs are refused, want %d", refused, want)
	}
}

func TestUnknownState(t *testing.T) {
	for _, err := range []error{CheckTransition(99, StateRTS, 0), CheckTransition(StateRTS, 99, 0)} {
		if !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "QPState(99)") {
			t.Errorf("got %v", err)
		}
	}
}

func TestStatePredicates(t *testing.T) {
	for _, tt := range []struct {
		state      QPState
		recv, send bool
	}{
		{StateReset, false, false}, {StateInit, true, false}, {StateRTR, true, false}, {StateRTS, true, true},
		{StateSQD, true, true}, {StateSQE, true, true}, {StateErr, true, true},
	} {
		if got := tt.state.CanPostRecv(); got != tt.recv {
			t.Errorf("%v.CanPostRecv() is %v", tt.state, got)
		}
		if got := tt.state.CanPostSend(); got != tt.send {
			t.Errorf("%v.CanPostSend() is %v", tt.state, got)
		}
	}
}

func TestAttrString(t *testing.T) {
	for _, tt := range []struct {
		attr Attr
		want string
	}{
		{0, "none"}, {AttrPort, "PORT"}, {AttrAltPath, "ALT_PATH"}, {AttrAccess | AttrSQPSN, "ACCESS_FLAGS|SQ_PSN"},
		{allAttrs, "PORT|PKEY_INDEX|ACCESS_FLAGS|AV|PATH_MTU|DEST_QPN|RQ_PSN|MAX_DEST_RD_ATOMIC|MIN_RNR_TIMER|" +
			"TIMEOUT|RETRY_CNT|RNR_RETRY|SQ_PSN|MAX_QP_RD_ATOMIC|ALT_PATH"},
	} {
		if got := tt.attr.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
