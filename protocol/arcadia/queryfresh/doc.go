// Package queryfresh is the log shipping of Query Fresh, a baseline of the Arcadia paper (its table 1 and section 5).
// A primary writes a group of log blocks by RDMA into the persistent memory of each backup, and commits the group when
// every backup has persisted it. Comments cite the published source, github.com/sfu-dis/ermia at commit 9d255add, by
// file and function; the code is our own.
//
//	// on each backup
//	b, err := queryfresh.NewBackup(h, queryfresh.Config{Name: "log", Size: 1 << 20})
//	err = b.Serve()
//	// on the primary
//	l, err := queryfresh.Open(h, queryfresh.Config{Name: "log", Size: 1 << 20, Backups: []string{"b"}, Timeout: time.Second})
//	err = l.Append(data)
//	err = l.Commit() // a group: durable on all
//
// A block is a header with a checksum and an LSN, followed by data. [Log.Commit] posts, for each backup, a Write with
// immediate of the blocks appended since the last commit, to the same offset of the backup's memory
// (primary_ship_log_buffer_rdma). Meanwhile it persists its own copy; then it waits for all backups. A backup counts
// the bytes received, flushes the new ones, and acknowledges them (BackupDaemonRdma, BackupProcessLogData with NVRAM).
// A recovery reads the blocks up to the first with a wrong checksum or LSN, and discards the rest
// (sm_log_recover_mgr).
//
// So a committed block survives the failure of the primary, a partition, and a power failure. A
// flipped bit in one copy cuts off the rest of that copy's log, and the recovery does not
// consult the other copies.
//
// # Departures
//
//   - A backup answers with a Send. ERMIA writes a word into the memory of the primary, which polls it.
//   - The log has one segment, and its space is not reused.
//   - There are no checkpoints, no replay and no queries on backups, and no second Write with the bounds for replay threads.
//   - ERMIA waits forever for a failed backup. Here Commit fails, and the log accepts no more blocks.
//   - Blocks are not divided into records, and their checksum is CRC-32C instead of Adler-32.
package queryfresh
