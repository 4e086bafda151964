// Verbatim checks RDMA replication protocols by running their real code in a
// deterministic simulator.
//
// `verbatim --help` lists the commands. Its exit status is 0 if all is verified
// (or clean, for strategies that sample), 1 if a promise is violated, 2 for bad
// usage or input, and 3 if a limit was hit or the check could not decide. If several
// apply, 2 takes precedence over 1, 1 over 3, and 3 over 0.
//
// Package command has the commands: another module can build a program from them with its own protocols.
package main

func main() { program.Main() }
