package etcd_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord/etcd"
)

func TestConfig(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		change func(*etcd.Config)
		want   string // part of the error; empty: none
	}{
		{func(c *etcd.Config) {}, ""},
		{func(c *etcd.Config) { c.Endpoints = []string{"http://h:2379", "http://[::1]:2379"} }, ""},
		{func(c *etcd.Config) { c.Endpoints = []string{"https://h:2379"} }, ""},
		{func(c *etcd.Config) { c.Endpoints = nil }, "no endpoint"},
		{func(c *etcd.Config) { c.Endpoints = []string{""} }, `endpoint "": want HOST:PORT`},
		{func(c *etcd.Config) { c.Endpoints = []string{"h:2379", "h"} }, `endpoint "h": want HOST:PORT`},
		{func(c *etcd.Config) { c.Endpoints = []string{":2379"} }, "want HOST:PORT"},
		{func(c *etcd.Config) { c.Endpoints = []string{"h:0"} }, "want HOST:PORT"},
		{func(c *etcd.Config) { c.Endpoints = []string{"h:2379/x"} }, "want HOST:PORT"},
		{func(c *etcd.Config) { c.Endpoints = []string{"unix://h:2379"} }, "want the scheme http:// or https://"},
		{func(c *etcd.Config) { c.Endpoints = []string{"https://h:2379", "h:2379"} }, "want the same for all"},
		{func(c *etcd.Config) { c.Endpoints, c.CAFile = []string{"http://h:2379"}, junk }, "certificates need https://"},
		{func(c *etcd.Config) { c.Name = "" }, "no name"},
		{func(c *etcd.Config) { c.Prefix = "x" }, "slash"},
		{func(c *etcd.Config) { c.TTL = 1500 * time.Millisecond }, "1.5s: want whole seconds"},
		{func(c *etcd.Config) { c.TTL = -time.Second }, "whole seconds"},
		{func(c *etcd.Config) { c.CallTimeout = -1 }, "the call timeout -1ns is negative"},
		{func(c *etcd.Config) { c.CertFile = junk }, "belong together"},
		{func(c *etcd.Config) { c.CertFile, c.KeyFile = junk, junk }, "junk"},
		{func(c *etcd.Config) { c.CAFile = junk }, "no PEM certificate"},
		{func(c *etcd.Config) { c.CAFile = junk + "2" }, "junk2"},
		{func(c *etcd.Config) { c.User = "u" }, "belong together"},
		{func(c *etcd.Config) { c.Password = "p" }, "belong together"},
	}
	for _, test := range tests {
		cfg := etcd.Config{Endpoints: []string{"h:2379"}, Name: "a"}
		test.change(&cfg)
		c, err := etcd.New(cfg)
		if c != nil {
			_ = c.Close()
		}
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%+v: %v", cfg, err)
		case test.want != "" && (!errors.Is(err, etcd.ErrConfig) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%+v: got %v, want ErrConfig with %q", cfg, err, test.want)
		}
	}
}
