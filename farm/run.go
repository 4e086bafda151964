package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// RunConfig configures [Run].
type RunConfig struct {
	Config
	Program string // its file: only workers with the same run the jobs
	Dir     string // its source tree, for jobs that need it
	// Notice is called with a message for the user if no worker can take the jobs.
	Notice func(text string)
}

// client is a batch of jobs on its way.
type client struct {
	cfg         RunConfig
	l           *link
	batch       string
	build, tree string
	jobs        []Job
	got         *gathered
	next        int // the first job whose result has not been delivered
	each        func(i int, r *Result) error
	warned      bool
	seq         uint64 // in the stream of results, of the last one that was read
}

// Run hands out the jobs, and calls each with their results, in the order of the jobs and once for each. It returns when
// all are done, when each returns an error, or when ctx ends; then it withdraws the jobs that are left.
func Run(ctx context.Context, cfg RunConfig, jobs []Job, each func(i int, r *Result) error) (err error) {
	c := &client{cfg: cfg, jobs: jobs, got: newGathered(len(jobs)), each: each, batch: nuid.Next(), tree: anyTree}
	if c.build, err = Build(cfg.Program); err != nil {
		return err
	}
	if cfg.Dir != "" {
		if c.tree, err = Tree(cfg.Dir); err != nil {
			return err
		}
	}
	if c.l, err = connect(ctx, cfg.Config, "verbatim-farm run"); err != nil {
		return err
	}
	defer c.l.close()
	defer c.withdraw()
	woken := make(chan struct{}, 1)
	news, err := c.l.conn.Subscribe(resultSubject(c.batch), func(*nats.Msg) {
		select {
		case woken <- struct{}{}:
		default: // it is awake
		}
	})
	if err != nil {
		return fmt.Errorf("farm: wait for results: %w", err)
	}
	defer func() { _ = news.Unsubscribe() }()
	for i := range jobs {
		if err := c.hand(ctx, i, ""); err != nil {
			return err
		}
	}
	return c.gather(ctx, woken)
}

// queue is the part of a job's subject that names the source tree.
func (c *client) queue(j *Job) string {
	if j.Source {
		return c.tree
	}
	return anyTree
}

// hand puts a job into its queue.
func (c *client) hand(ctx context.Context, i int, again string) error {
	j := c.jobs[i]
	if len(j.Args) == 0 {
		return fmt.Errorf("%w: job %d has no arguments", ErrConfig, i)
	}
	if j.Source && c.tree == anyTree {
		return fmt.Errorf("%w: %s needs the source tree, and none is named", ErrConfig, line(j.Args))
	}
	b, err := json.Marshal(order{j, c.batch, i})
	if err == nil {
		_, err = c.l.js.Publish(ctx, jobSubject(c.build, c.queue(&j), c.batch), b, jetstream.WithMsgID(fmt.Sprint(c.batch, ".", i, again)))
	}
	if err != nil {
		return fmt.Errorf("farm: hand out %s: %w", line(j.Args), err)
	}
	return nil
}

// gather reads results from their stream until all are there. A message on woken says that there may be new ones. A server
// that does not answer may come back.
func (c *client) gather(ctx context.Context, woken <-chan struct{}) error {
	tick := time.NewTicker(min(c.l.cfg.beat(), time.Second))
	defer tick.Stop()
	looked := time.Now()
	for c.next < len(c.jobs) {
		if _, err := c.read(ctx); err != nil {
			return err
		}
		if c.next < len(c.jobs) && time.Since(looked) > 2*c.l.cfg.beat() {
			if err := c.look(ctx); err != nil {
				return err
			}
			looked = time.Now()
		}
		if c.next == len(c.jobs) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
		case <-tick.C:
		}
	}
	return nil
}

// read reads the results that are there. It reports whether it has read them all.
func (c *client) read(ctx context.Context) (all bool, err error) {
	s, err := c.l.js.Stream(ctx, resultStream)
	if err != nil {
		return false, ctx.Err() // later
	}
	for c.next < len(c.jobs) {
		m, err := s.GetMsg(ctx, c.seq+1, jetstream.WithGetMsgSubject(resultSubject(c.batch)))
		if err != nil {
			return errors.Is(err, jetstream.ErrMsgNotFound), ctx.Err() // there is none, or later
		}
		c.seq = m.Sequence
		if _, err := c.got.add(m.Data); err != nil {
			return false, err
		}
		for c.next < len(c.jobs) && c.got.results[c.next] != nil {
			i := c.next
			c.next++
			if err := c.each(i, c.got.results[i]); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// look repairs what the server lost, and notices, once, that no worker can take the jobs.
func (c *client) look(ctx context.Context) error {
	if err := c.repair(ctx); err != nil || c.warned || c.cfg.Notice == nil {
		return err
	}
	c.notice(ctx)
	return nil
}

func (c *client) notice(ctx context.Context) {
	all, err := c.l.alive(ctx)
	if err != nil {
		return // the results will show
	}
	for i := c.next; i < len(c.jobs); i++ {
		q := c.queue(&c.jobs[i])
		if c.got.results[i] == nil && !can(all, c.build, q) {
			c.warned = true
			text := fmt.Sprintf("none of the %d workers has this program, build %s", len(all), c.build)
			if q != anyTree {
				text += " with source tree " + q
			}
			c.cfg.Notice(text + ": the jobs wait for one")
			return
		}
	}
}

// repair hands jobs out again if the server has fewer than have no result: they were too old, or its folder is another. A
// worker sends a result before it removes the job, so what was neither waiting, nor has a result after that, is lost.
func (c *client) repair(ctx context.Context) error {
	waiting, err := c.waiting(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = c.l.streams(ctx)
	}
	if err != nil {
		return ctx.Err() // later
	}
	if all, err := c.read(ctx); err != nil || !all {
		return err
	}
	var left []int
	for i, r := range c.got.results {
		if r == nil {
			left = append(left, i)
		}
	}
	if waiting >= len(left) {
		return nil
	}
	c.seq = 0 // another stream numbers from 1; results that are known are ignored
	for _, i := range left {
		if c.hand(ctx, i, "."+nuid.Next()) != nil {
			return ctx.Err() // later
		}
	}
	return nil
}

// waiting returns how many jobs of the batch the server has, with those that are run.
func (c *client) waiting(ctx context.Context) (int, error) {
	s, err := c.l.js.Stream(ctx, jobStream)
	if err != nil {
		return 0, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(jobSubject("*", "*", c.batch)))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, x := range info.State.Subjects { //lint:ordered a sum
		n += int(x)
	}
	return n, nil
}

// can reports whether a worker takes jobs of a queue.
func can(all []Worker, build, tree string) bool {
	for i := range all {
		if all[i].Build == build && (tree == anyTree || all[i].Tree == tree) {
			return true
		}
	}
	return false
}

// withdraw removes the remaining jobs of the batch.
func (c *client) withdraw() {
	ctx, stop := context.WithTimeout(context.Background(), 4*c.l.cfg.beat())
	defer stop()
	for stream, subject := range map[string]string{jobStream: jobSubject("*", "*", c.batch), resultStream: resultSubject(c.batch)} { //lint:ordered both are emptied
		if s, err := c.l.js.Stream(ctx, stream); err == nil {
			_ = s.Purge(ctx, jetstream.WithPurgeSubject(subject)) // they expire otherwise
		}
	}
	if c.next < len(c.jobs) {
		_ = c.l.conn.Publish("verbatim.cancel."+c.batch, nil)
		_ = c.l.conn.FlushWithContext(ctx)
	}
}
