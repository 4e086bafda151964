// Package farm runs the command lines of one program on many machines.
//
// A job is a command line of a program, such as `check ncl/twice` of verbatim. [Run] hands jobs out and gathers their
// results; [Work] takes jobs and runs them; both meet at a server of NATS with JetStream: one of [Serve], or any other.
// The package does not interpret the jobs.
//
//   - Jobs wait in a work queue. A worker that takes a job reports at intervals that the job is still running. If the
//     reports stop, because the worker was killed or cut off, the queue gives the job to another worker.
//   - So a job may be run twice, but it has one result: the first that arrives complete.
//   - A worker gets only jobs of its own build: the queue is named after the hash of the program's file. A job that needs
//     the source tree has the hash of that in its queue's name too.
//   - If three workers are lost with the same job, the job fails.
package farm
