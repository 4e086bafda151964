// Package strace turns strace's output into the workload of one log file: the
// writes, syncs, truncations, renames and removals that a real program performed on its
// write-ahead log, in order, with their bytes.
//
// # How to record
//
//	strace -f -s 1000000 -o log.strace -e trace=openat,?open,?creat,close,\
//	    dup,?dup2,dup3,fcntl,chdir,write,pwrite64,writev,pwritev,?pwritev2,lseek,\
//	    fsync,fdatasync,ftruncate,fallocate,?rename,?renameat,renameat2,\
//	    ?unlink,unlinkat,?fork,?vfork,clone,?clone3,execve  PROGRAM ARGS...
//
// -s keeps strace from truncating the data, -o keeps the program's own output out of
// the trace, -f follows threads and children. -x, -xx, -y, -yy, -Y, -i, -n, -T, -t,
// -tt, -ttt and -r are optional; each line may begin with the process as "1234 " or
// "[pid 1234] ". The trace may contain other calls, which Parse ignores.
//
// # How to read
//
// Parse reads such a file and returns a Trace. Options.File names the log; without it,
// the log is the file with the most syncs (Options.File documents the whole rule).
// Trace.Files lists the others.
//
// # What the ops mean
//
// A Trace follows a name, not a file behind it. It begins with Create (or
// Open, if the file was there before; its old content is not known and counts
// as empty). Each Write carries its offset, whether the program named it
// (pwrite64), moved there (lseek, write) or appends (O_APPEND). A Sync makes
// everything before it durable. A rotated log yields Rename or Unlink, then Create: the
// workload releases the log and creates it again. When another file takes the log's
// name, the op is Replace, with the whole content of that file as the trace built it
// up; the file's own earlier ops are not repeated. Replace does not imply durability: a
// Sync follows if the program made one. Data written to a file after the file lost the
// name is not part of the log.
//
// Only effects become ops. Calls that failed, wrote nothing, did not return, or set the
// length that the file already has are omitted, and a short write carries only the
// bytes written. Calls of several threads are in the order in which they returned.
// fallocate becomes Truncate if the file grows and a Write of zeros if it clears bytes;
// reserving space does not count as an effect. sync_file_range is not a Sync, since it
// promises nothing after a crash.
//
// # What cannot be seen
//
// strace does not show bytes written through mmap, sendfile, copy_file_range
// or splice; if these calls are traced and touch the log, that is
// ErrUnsupported. io_uring and libaio are not detected at all. A descriptor that is
// read and then written without lseek needs read in the trace too. Renames of folders
// and symbolic links are not followed. Making a name durable (fsync of a folder) is not
// modelled. Where Parse must assume something, Trace.Notes records it.
//
// # Errors and limits
//
// Detectable damage to the log results in an error, not a guess: a *ParseError with
// line, column, reason and remedy, which wraps one of the Err values. A fault in the
// data of another file does no harm. Memory is bounded by Options (by default 1<<20
// ops, 256 MiB of data, 64 MiB a line, and 1 TiB as the farthest byte of a file) and by
// fixed limits far above what programs do: 65536 names of up to 8192 bytes, 65536 open
// descriptors and 16384 processes at one time.
package strace
