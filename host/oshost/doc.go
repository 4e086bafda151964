// Package oshost implements package host on the operating system: tasks are goroutines,
// the clock is the monotonic one, memory is mapped, and messages are HTTP requests.
//
//	dev, err := hw.Open(hw.Config{})
//	h, err := oshost.New(oshost.Config{Name: "peer1", Device: dev, Listen: ":7001",
//		Peers: map[string]string{"app": "app.example:7001"}})
//	h.Run(func(h host.Host) { ... })
//
// The package accepts any verbs.Device and imports no binding, so programs that use only
// messages or persistent memory need no C compiler. Without a card, package verbs/soft opens
// a device that uses TCP.
//
// # Messages
//
// A call is one HTTP/1.1 request, by net/http, over TLS if Config.TLS is set; then both
// sides present certificates, which determine their names. Config bounds sizes, queues,
// connections and the time that a peer may take to send. A host disconnects a peer that
// exceeds these bounds. It refuses a host with another version of the protocol with
// [ErrVersion], and any other kind of peer with [ErrProtocol]; callers see both, together
// with host.ErrUnreachable. A request is sent once: the transport never repeats it.
//
// # Memory
//
// Regions are whole pages outside the Go heap. A persistent region is a file in
// Config.PMEMDir. On a DAX file system Flush writes back cache lines with the best
// instruction of the processor and Fence orders them. On any other file system the file is
// mapped too, and Flush is msync(2). A read of unreadable memory raises a signal, which Load
// turns into a panic that wraps host.ErrMedia.
//
// The kernel decides whether a card may register a file's memory: it permits DAX
// devices and tmpfs, but not most file systems on disks.
//
// # Where things are
//
// config.go has the settings and limits, host.go the tasks, region.go and pmem.go
// memory, wire.go the protocol, server.go and client.go the two sides.
package oshost
