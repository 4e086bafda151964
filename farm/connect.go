package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config says where the server is, and how to log in.
type Config struct {
	URL string // such as nats://10.0.0.1:4222 or tls://user:password@farm.example.com
	// Creds is a file with NATS credentials; CA has the certificates that authenticate the server; Cert and Key
	// are the client's own. Empty: none.
	Creds, CA, Cert, Key string
	// Beat is how often a worker reports that it is alive; 0 means 5 s. After four missed beats it counts as lost. All
	// members of a farm use the same.
	Beat time.Duration
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	switch {
	case c.URL == "":
		return fmt.Errorf("%w: no URL of a server, such as nats://127.0.0.1:4222", ErrConfig)
	case !parses(c.URL):
		return fmt.Errorf("%w: the URL of the server, %s, cannot be parsed", ErrConfig, bare(c.URL))
	case (c.Cert == "") != (c.Key == ""):
		return fmt.Errorf("%w: a certificate and its key belong together: %q, %q", ErrConfig, c.Cert, c.Key)
	case c.Beat < 0:
		return fmt.Errorf("%w: a beat of %v", ErrConfig, c.Beat)
	}
	return nil
}

func (c *Config) beat() time.Duration {
	if c.Beat == 0 {
		return 5 * time.Second
	}
	return c.Beat
}

// The streams. Jobs are removed when they are done; everything else after a day.
const (
	jobStream    = "VERBATIM_JOBS"
	resultStream = "VERBATIM_RESULTS"
	workerBucket = "verbatim-workers"
	keep         = 24 * time.Hour
	anyTree      = "any" // the queue of jobs that need no source tree
)

// A job is sent on jobs.BUILD.TREE.BATCH, and the parts of its results on results.BATCH.
func jobSubject(build, tree, batch string) string {
	return "verbatim.job." + build + "." + tree + "." + batch
}
func resultSubject(batch string) string { return "verbatim.result." + batch }

// link is a connection to the server.
type link struct {
	cfg     Config
	conn    *nats.Conn
	js      jetstream.JetStream
	workers jetstream.KeyValue
}

// connect connects, and makes the streams if they are missing.
func connect(ctx context.Context, cfg Config, name string) (*link, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	opts := []nats.Option{nats.Name(name), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})} // by default it prints: calls return what matters
	if cfg.Creds != "" {
		opts = append(opts, nats.UserCredentials(cfg.Creds))
	}
	if cfg.CA != "" {
		opts = append(opts, nats.RootCAs(cfg.CA))
	}
	if cfg.Cert != "" {
		opts = append(opts, nats.ClientCert(cfg.Cert, cfg.Key))
	}
	conn, err := nats.Connect(cfg.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("farm: connect to %s: %w", bare(cfg.URL), err)
	}
	l := &link{cfg: cfg, conn: conn}
	if l.js, err = jetstream.New(conn); err == nil {
		l.workers, err = l.streams(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("farm: %s has no JetStream for this user: %w", bare(cfg.URL), err)
	}
	return l, nil
}

// streams makes the streams and the bucket of workers if they are missing.
func (l *link) streams(ctx context.Context) (jetstream.KeyValue, error) {
	_, jobs := l.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: jobStream, Subjects: []string{"verbatim.job.>"},
		Retention: jetstream.WorkQueuePolicy, MaxAge: keep})
	_, results := l.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: resultStream, Subjects: []string{"verbatim.result.>"}, MaxAge: keep})
	workers, err := l.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: workerBucket, TTL: 4 * l.cfg.beat()})
	return workers, errors.Join(jobs, results, err)
}

func (l *link) close() { l.conn.Close() }

// parses reports whether a URL, or a list of them with commas, can be parsed. An error of the parser may show a password.
func parses(urls string) bool {
	for u := range strings.SplitSeq(urls, ",") {
		u = strings.TrimSpace(u)
		if !strings.Contains(u, "://") {
			u = "nats://" + u
		}
		if _, err := url.Parse(u); err != nil {
			return false
		}
	}
	return true
}

// bare returns URLs without what comes before the last @, where passwords are.
func bare(urls string) string {
	i := strings.LastIndex(urls, "@")
	if i < 0 {
		return urls
	}
	scheme, _, ok := strings.Cut(urls[:i], "://")
	if !ok {
		return urls[i+1:]
	}
	return scheme + "://" + urls[i+1:]
}

// Worker describes a worker that is alive.
type Worker struct {
	Name  string   `json:"name"`
	Build string   `json:"build"`
	Tree  string   `json:"tree,omitempty"` // its source tree; empty: it has none
	Cores int      `json:"cores"`
	Done  int      `json:"done"`            // jobs
	Doing []string `json:"doing,omitempty"` // the current job
}

// Workers lists the workers that are alive, by name.
func Workers(ctx context.Context, cfg Config) ([]Worker, error) {
	l, err := connect(ctx, cfg, "verbatim-farm status")
	if err != nil {
		return nil, err
	}
	defer l.close()
	return l.alive(ctx)
}

func (l *link) alive(ctx context.Context) ([]Worker, error) {
	keys, err := l.workers.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("farm: list workers: %w", err)
	}
	var out []Worker
	for _, k := range keys {
		e, err := l.workers.Get(ctx, k)
		if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
			continue // it has just gone, or no worker wrote it
		}
		if err != nil {
			return nil, fmt.Errorf("farm: worker %s: %w", k, err)
		}
		var x Worker
		if json.Unmarshal(e.Value(), &x) == nil && x.Name != "" {
			out = append(out, x) // nothing else can be a worker's
		}
	}
	slices.SortFunc(out, func(a, b Worker) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
