// Package kv is the key-value store of Sift (Kazhamiaka et al., CoNEXT 2019, section 4): a hash
// table in the replicated memory of package [github.com/verbatim-rdma/verbatim/protocol/sift],
// served by the coordinator.
//
// # Use
//
// A CPU node calls [Run]. A client calls [NewClient], and then [Client.Put], [Client.Get] and
// [Client.Delete]. Run is a loop around steps, which scenarios call themselves: [Open] recovers a
// [Store] in the memory of a coordinator, [Store.ApplyOne] applies one operation, and a [Server]
// answers clients.
//
// # How it works
//
// The memory holds an index table, a bitmap, and data blocks (4.1). A slot of the table points to
// the first of a chain of blocks, one for each key whose hash selects the slot. A put is an entry
// of a log in the direct zone, and is acknowledged when a majority of the memory nodes has it,
// which takes one round trip (4.2). It is applied to the table in the background, by one list of
// updates that commit together. A get looks into the coordinator's cache, and then walks the
// chain. A new coordinator loads the table and the bitmap, and replays the log (4.3).
//
// # Guarantees
//
// The store is linearizable, as the memory is. An operation whose error wraps [ErrUnknown] may
// have been carried out, or may be by a later coordinator, but not after it has acknowledged
// another put or delete. All other errors mean that nothing happens. As long as at most F memory
// nodes fail, an acknowledged operation lasts.
//
// # Where the paper is silent
//
// The page docs/sift-rules.md lists what the code does then. The most important ones: an entry of the
// log holds the term of its coordinator and a checksum; the memory holds the number of the last
// operation that was applied, and each list of updates advances it; a recovery looks at the log
// of a majority, and writes what it has chosen to all before it replays it; a put reserves the
// block that it may need; a cached value is confirmed by the lease; keys can be deleted.
//
// # Where things are
//
// config.go has the settings, errors and addresses, block.go a data block, log.go the log and
// what a recovery makes of it, table.go the index table, the bitmap and the chains, cache.go the
// cache. store.go has the operations, apply.go what follows in the background and after a
// recovery. wire.go, serve.go and client.go are about clients. Numbers such as (4.2) are sections
// of the paper.
package kv
