// Package farm runs the command lines of one program on many machines.
//
// A job is a command line of a program, such as `check ncl/twice` of verbatim. [Run] hands jobs out and gathers their
// results; [Work] takes jobs and runs them; both meet at a server of NATS with JetStream: one of [Serve], or any other.
// The package knows nothing of what the jobs do.
//
//   - Jobs wait in a work queue. A worker that takes a job says at intervals that it is still working on it. If it stops,
//     because it was killed or cut off, the queue gives the job to another worker.
//   - So a job may be run twice, but it has one result: the first that arrives complete.
//   - A worker gets only jobs of its own build: the queue is named after the hash of the program's file. A job that needs
//     the source tree has the hash of that in its queue's name too.
//   - A job that three workers did not survive ends with an error.
package farm
