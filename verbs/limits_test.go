package verbs

import (
	"errors"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	attr := &DeviceAttr{Name: "card0", MaxInline: 64, MaxSGE: 2, MaxQPWR: 128, MaxRdAtomic: 16}
	got, err := QPConfig{}.Resolve(attr)
	want := QPConfig{MaxSendWR: 64, MaxRecvWR: 64, MaxSGE: 2, MaxRdAtomic: 16, RetryCount: 7, RNRRetry: 7}
	if got != want || err != nil {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	all := QPConfig{MaxSendWR: 128, MaxRecvWR: 1, MaxSGE: 1, MaxInline: 1, MaxRdAtomic: 1, RetryCount: 1, RNRRetry: 1, PSN: 1<<24 - 1, SignalAll: true}
	if got, err := all.Resolve(attr); got != all || err != nil {
		t.Errorf("what is asked for: %+v, %v", got, err)
	}
	for name, cfg := range map[string]QPConfig{
		"MaxSendWR": {MaxSendWR: 129}, "MaxRecvWR": {MaxRecvWR: -1}, "MaxSGE": {MaxSGE: 3}, "MaxInline": {MaxInline: 65},
		"MaxRdAtomic": {MaxRdAtomic: 17}, "RetryCount": {RetryCount: 8}, "RNRRetry": {RNRRetry: -1}, "PSN": {PSN: 1 << 24},
	} {
		if _, err := cfg.Resolve(attr); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name+" is") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
