package stores

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host/oshost"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// machines are the hosts of a group, which can call each other.
type machines struct {
	open  func() (verbs.Device, error)
	logf  func(format string, args ...any)
	hosts []*oshost.Host
	names []string
	devs  []verbs.Device
}

// add adds hosts with these names.
func (m *machines) add(names ...string) error {
	for _, name := range names {
		dev, err := m.open()
		if err != nil {
			return fmt.Errorf("open a device for %s: %w", name, err)
		}
		m.devs = append(m.devs, dev)
		h, err := oshost.New(oshost.Config{Name: name, Device: dev, Listen: "127.0.0.1:0", Logf: m.logf})
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		for i, o := range m.hosts {
			if err := errors.Join(o.AddPeer(name, h.Addr()), h.AddPeer(m.names[i], o.Addr())); err != nil {
				return errors.Join(err, h.Close())
			}
		}
		m.hosts, m.names = append(m.hosts, h), append(m.names, name)
	}
	return nil
}

// host returns the host of a name that was added.
func (m *machines) host(name string) *oshost.Host {
	for i, n := range m.names {
		if n == name {
			return m.hosts[i]
		}
	}
	panic("stores: no host " + name) // names come from this package
}

// close closes the hosts. The protocols release their connections only when the process exits, so
// a device in use stays open until then.
func (m *machines) close() error {
	var err error
	for _, h := range m.hosts {
		err = errors.Join(err, h.Close())
	}
	for _, d := range m.devs {
		if e := d.Close(); !errors.Is(e, verbs.ErrBusy) {
			err = errors.Join(err, e)
		}
	}
	return err
}
