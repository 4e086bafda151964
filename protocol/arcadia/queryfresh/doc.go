// Package queryfresh is the log shipping of Query Fresh, a baseline of the Arcadia paper (its table 1 and section 5): a primary
// writes a group of log blocks into the persistent memory of each backup by RDMA, and commits them when all have
// made them persistent. Comments cite the published source, github.com/sfu-dis/ermia at commit 9d255add, by file and function; the
// code is our own.
//
//	// on each backup
//	err := queryfresh.Serve(h, queryfresh.Config{Name: "log", Size: 1 << 20})
//	// on the primary
//	l, err := queryfresh.Open(h, queryfresh.Config{Name: "log", Size: 1 << 20, Backups: []string{"b"}, Timeout: time.Second})
//	err = l.Append(data)
//	err = l.Commit() // a group: durable on all
//
// A block is a header with checksum and LSN, and data. [Log.Commit] posts a Write with immediate of what was appended since
// the last one, to the same place of each backup's memory (primary_ship_log_buffer_rdma), makes its own copy persistent meanwhile,
// and waits for all backups. A backup keeps count of where the next bytes belong; it flushes them and says so (BackupDaemonRdma,
// BackupProcessLogData with NVRAM). A recovery goes through the blocks up to the first whose checksum or LSN does not fit, and
// discards what follows (sm_log_recover_mgr).
//
// So a forced block survives the primary, a partition, and a loss of power. A bit that flips in one copy ends that copy's log there,
// and nobody asks the other copies.
//
// # Departures
//
//   - A backup answers by a Send. The original writes a word into the memory of the primary, which looks at it in a loop.
//   - The log has one segment, and its space is not used again.
//   - There are no checkpoints, replay and queries on backups, and no second Write with the bounds for replaying threads.
//   - The original waits for ever for a backup that has failed. Here Commit fails, and the log takes nothing more.
//   - Blocks have no records of their own, and their checksum is CRC-32C instead of Adler-32.
package queryfresh
