// Package plain has nothing to do with a protocol.
package plain

import "time"

var Began = time.Now()
