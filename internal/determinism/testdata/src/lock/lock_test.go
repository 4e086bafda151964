package lock

import (
	"testing"
	"time"
)

func TestTake(*testing.T) { _ = time.Now() }
