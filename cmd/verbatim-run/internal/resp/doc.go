// Package resp is a front end for RESP, the protocol of Redis, so that clients and tools of Redis can use a key-value
// store: get, set and delete of single keys, and the commands that clients send when they connect.
//
// It is not a Redis: there are no types except strings, no expiry, no transactions, no scripts. A missing command or
// option is reported as an error. DEL and EXISTS count the keys that exist when they read them; for DEL this is not
// atomic with the removal.
//
// An error begins with a word for programs:
//
//	NOTLEADING  this node does not lead, and nothing was carried out: ask another node
//	UNKNOWN     the operation may have been carried out, or may be until another change is acknowledged
//	TOOLONG     the key is empty, or key or value exceed the limits of the store
//	FULL        the key is new, and the store has no room
//	ERR         everything else
//
// read.go reads commands, write.go writes replies, commands.go has the commands, server.go the connections. The
// protocol is that of redis.io/docs/latest/develop/reference/protocol-spec, versions 2 and 3.
package resp
