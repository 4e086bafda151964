package etcd_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/coord/etcd"
)

// A cluster that requires certificates of both sides, and a password.
func TestSecured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificates(t, dir)
	file := func(name string) string { return filepath.Join(dir, name) }
	s := newServer(t, "--client-cert-auth", "--trusted-ca-file", file("ca"), "--cert-file", file("cert"), "--key-file", file("key"))
	cfg := s.config()
	cfg.CAFile, cfg.CertFile, cfg.KeyFile = file("ca"), file("cert"), file("key")
	withPassword(t, newClient(t, cfg))
	cfg.User, cfg.Password = "u", "secret"

	c := newClient(t, cfg)
	session := newSession(t, c)
	if err := c.Create("k", []byte("v"), session); err != nil {
		t.Error(err)
	}
	if v, version, err := c.Get("k"); string(v) != "v" || version != 1 || err != nil {
		t.Errorf("got %q, version %d, %v", v, version, err)
	}
	s.Restart() // it may forget the tokens of those who are logged in, and does so here:
	root := cfg
	root.User, root.Password = "root", "root"
	forgetTokens(t, newClient(t, root))
	// A read waits for the connection to be restored, a write does not.
	if err := c.CheckSession(session); err != nil {
		t.Errorf("without the token: %v", err)
	}
	forgetTokens(t, newClient(t, root))
	if version, err := c.Set("k", nil, 1); version != 2 || err != nil {
		t.Errorf("without the token: version %d, %v", version, err)
	}
	if err := c.CloseSession(session); err != nil {
		t.Error(err)
	}

	wrong := cfg
	wrong.Password = "guess"
	if _, err := etcd.New(wrong); !errors.Is(err, etcd.ErrConfig) {
		t.Errorf("wrong password: got %v", err)
	}
	anonymous := cfg
	anonymous.User, anonymous.Password, anonymous.CallTimeout = "", "", time.Second
	if _, _, err := newClient(t, anonymous).Get("k"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("without a user: got %v", err)
	}
	stranger := anonymous
	stranger.CertFile, stranger.KeyFile = "", ""
	if _, _, err := newClient(t, stranger).Get("k"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("without a certificate: got %v", err)
	}
}

// forgetTokens invalidates every token that the cluster has issued.
func forgetTokens(t *testing.T, root *etcd.Client) {
	t.Helper()
	if _, err := etcd.Raw(root).AuthDisable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Raw(root).AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// withPassword makes the cluster require the password of user u, who may do everything.
func withPassword(t *testing.T, c *etcd.Client) {
	t.Helper()
	ctx, auth := t.Context(), etcd.Raw(c)
	steps := []func() error{
		func() error { _, err := auth.RoleAdd(ctx, "r"); return err },
		func() error {
			_, err := auth.RoleGrantPermission(ctx, "r", "test/", "test0", clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := auth.UserAdd(ctx, "u", "secret"); return err },
		func() error { _, err := auth.UserGrantRole(ctx, "u", "r"); return err },
		func() error { _, err := auth.UserAdd(ctx, "root", "root"); return err },
		func() error { _, err := auth.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := auth.AuthEnable(ctx); return err },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// certificates writes an authority and a certificate for this machine: ca, cert, key.
func certificates(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"test"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{
		"ca":   {Type: "CERTIFICATE", Bytes: cert},
		"cert": {Type: "CERTIFICATE", Bytes: cert},
		"key":  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
