//go:build !rdma

package hw

import (
	"errors"
	"strings"
	"testing"
)

func TestNotBuilt(t *testing.T) {
	_, err := Open(Config{})
	if !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "go build -tags rdma") || !strings.Contains(err.Error(), "libibverbs-dev") {
		t.Error(err)
	}
	if _, err := Open(Config{Port: -1}); !errors.Is(err, ErrConfig) {
		t.Errorf("a bad configuration: %v", err)
	}
	if _, err := Devices(); !errors.Is(err, ErrNotBuilt) || Built {
		t.Error(err, Built)
	}
}
