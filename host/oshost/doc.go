// Package oshost is package host on the operating system: tasks are goroutines,
// the clock is the monotonic one, memory is mapped, and messages go over HTTP.
//
//	dev, err := hw.Open(hw.Config{})
//	h, err := oshost.New(oshost.Config{Name: "peer1", Device: dev, Listen: ":7001",
//		Peers: map[string]string{"app": "app.example:7001"}})
//	h.Run(func(h host.Host) { ... })
//
// It takes any verbs.Device and imports no binding, so programs that use it for
// its messages or its persistent memory alone need no C compiler. Without a card,
// package verbs/soft opens a device of TCP.
//
// # Messages
//
// A call is one HTTP/1.1 request, by net/http, over TLS if Config.TLS is set; then
// both sides show certificates, and a host is who its certificate says. Sizes,
// queues, connections and the time a peer may take over sending are all bounded by
// Config. A peer that goes beyond is cut off. A host of another version of the
// protocol is refused with [ErrVersion], and something that is no such host at all
// with [ErrProtocol]; callers see both, and also host.ErrUnreachable. A request is
// sent once: nothing in the transport repeats it.
//
// # Memory
//
// Regions are whole pages outside of the Go heap. A persistent region is a file in
// Config.PMEMDir. On a DAX file system Flush writes cache lines back with the best
// instruction that the processor has and Fence orders them; on any other the file
// is mapped too, and Flush is msync(2). Reading memory that cannot be read raises a
// signal, which Load turns into a panic that wraps host.ErrMedia.
//
// Whether a card may register a file's memory is up to the kernel: DAX devices and
// tmpfs let it, most file systems on disks do not.
//
// # Where things are
//
// config.go has the settings and limits, host.go the tasks, region.go and pmem.go
// memory, wire.go what goes over the wire, server.go and client.go the two sides.
package oshost
