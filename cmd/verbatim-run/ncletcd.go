package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
)

// etcdFlags select an etcd cluster as the coordinator, and configure the access to it.
type etcdFlags struct {
	cfg      etcd.Config
	password string // a file
	set      *pflag.FlagSet
}

func (f *etcdFlags) define(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringSliceVar(&f.cfg.Endpoints, "etcd", nil, "use an etcd cluster as the coordinator, at these `endpoints`, such as 10.0.0.9:2379,10.0.0.10:2379")
	fl.StringVar(&f.cfg.Prefix, "etcd-prefix", etcd.DefaultPrefix, "prefix of all keys in etcd")
	fl.DurationVar(&f.cfg.TTL, "etcd-ttl", etcd.DefaultTTL, "how long a session lives without a heartbeat")
	fl.StringVar(&f.cfg.CAFile, "etcd-ca", "", "use TLS for etcd; the CA of its certificates (PEM `file`)")
	fl.StringVar(&f.cfg.CertFile, "etcd-cert", "", "our client certificate for etcd (PEM `file`)")
	fl.StringVar(&f.cfg.KeyFile, "etcd-key", "", "private key of --etcd-cert (PEM `file`)")
	fl.StringVar(&f.cfg.User, "etcd-user", "", "user `name` for etcd")
	fl.StringVar(&f.password, "etcd-password-file", "", "`file` whose first line is the password for etcd")
}

// check reports flags that cannot be combined, before a card is opened.
func (f *etcdFlags) check(name string, timeout time.Duration) error {
	f.cfg.Name, f.cfg.CallTimeout = name, timeout
	if !f.set.Changed("etcd") {
		var err error
		f.set.Visit(func(fl *pflag.Flag) {
			if strings.HasPrefix(fl.Name, "etcd-") {
				err = fmt.Errorf("--%s needs --etcd with the endpoints of the cluster", fl.Name)
			}
		})
		return err
	}
	if f.set.Changed("coord") {
		return errors.New("--coord and --etcd exclude each other")
	}
	if f.password != "" {
		text, err := os.ReadFile(f.password)
		if err != nil {
			return fmt.Errorf("--etcd-password-file: %w", err)
		}
		f.cfg.Password, _, _ = strings.Cut(string(text), "\n")
		f.cfg.Password = strings.TrimSuffix(f.cfg.Password, "\r")
	}
	return f.cfg.Validate()
}

// controller returns the etcd cluster if the flags name one, and other if they do not.
// Its connections end with the process.
func (f *etcdFlags) controller(other coord.Client) (coord.Client, error) {
	if len(f.cfg.Endpoints) == 0 {
		return other, nil
	}
	return etcd.New(f.cfg)
}
