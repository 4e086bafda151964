// Package table is used by a protocol, and says so.
//
//verbatim:checked
package table

import "time"

func Stamp() time.Time { return time.Now() } // want "time.Now in table"
