// Package raftr is Raft-R.
package raftr
