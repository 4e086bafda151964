// Package resp is a front end that speaks RESP, the protocol of Redis, so that its clients and tools can use a key-value
// store: get, set and delete of single keys, and what clients ask when they connect.
//
// It is no Redis: there are no types but strings, no expiry, no transactions, no scripts. What is missing is an error
// that says so. DEL and EXISTS count the keys that were there when they looked, which is not one step with the removal.
//
// An error begins with a word for programs:
//
//	NOTLEADING  this node does not lead, and nothing was carried out: ask another one
//	UNKNOWN     the operation may have been carried out, or may be until another change is acknowledged
//	TOOLONG     the key is empty, or key or value exceed the limits of the store
//	FULL        the key is new, and the store has no room
//	ERR         everything else
//
// read.go reads commands, write.go writes replies, commands.go has the commands, server.go the connections. The
// protocol is that of redis.io/docs/latest/develop/reference/protocol-spec, versions 2 and 3.
package resp
