// Verbatim checks RDMA replication protocols by running their real code in a
// deterministic simulator.
//
// `verbatim --help` lists the commands. Its exit status is 0 if all is verified
// (or clean, for strategies that sample), 1 if a promise is violated, 2 for bad
// usage or input, and 3 if a limit came first or the check could not decide. Of
// several, 2 goes before 1, 1 before 3, and 3 before 0.
//
// Package command has the commands: another module makes a program of them with its own protocols.
package main

func main() { program.Main() }
