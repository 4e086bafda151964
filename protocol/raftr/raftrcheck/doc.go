// Package raftrcheck checks Raft-R.
package raftrcheck
