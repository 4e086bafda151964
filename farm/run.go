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
	results, err := c.l.js.OrderedConsumer(ctx, resultStream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{resultSubject(c.batch)}})
	if err != nil {
		return fmt.Errorf("farm: wait for results: %w", err)
	}
	for i := range jobs {
		if err := c.hand(ctx, i); err != nil {
			return err
		}
	}
	return c.gather(ctx, results)
}

// queue is the part of a job's subject that names the source tree.
func (c *client) queue(j *Job) string {
	if j.Source {
		return c.tree
	}
	return anyTree
}

// hand puts a job into its queue.
func (c *client) hand(ctx context.Context, i int) error {
	j := c.jobs[i]
	if j.Source && c.tree == anyTree {
		return fmt.Errorf("%w: %s needs the source tree, and none is named", ErrConfig, line(j.Args))
	}
	b, err := json.Marshal(order{j, c.batch, i})
	if err == nil {
		_, err = c.l.js.Publish(ctx, jobSubject(c.build, c.queue(&j), c.batch), b, jetstream.WithMsgID(fmt.Sprint(c.batch, ".", i)))
	}
	if err != nil {
		return fmt.Errorf("farm: hand out %s: %w", line(j.Args), err)
	}
	return nil
}

// gather receives the results.
func (c *client) gather(ctx context.Context, results jetstream.Consumer) error {
	looked := time.Now()
	for c.next < len(c.jobs) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Since(looked) > 2*c.l.cfg.beat() {
			c.look(ctx)
			looked = time.Now()
		}
		b, err := results.Fetch(100, jetstream.FetchMaxWait(min(c.l.cfg.beat(), time.Second)))
		if err == nil {
			err = c.receive(b)
		}
		if err != nil && !errors.Is(err, nats.ErrTimeout) {
			return fmt.Errorf("farm: wait for results: %w", err)
		}
	}
	return nil
}

func (c *client) receive(b jetstream.MessageBatch) error {
	for m := range b.Messages() {
		if _, err := c.got.add(m.Data()); err != nil {
			return err
		}
		for c.next < len(c.jobs) && c.got.results[c.next] != nil {
			i := c.next
			c.next++
			if err := c.each(i, c.got.results[i]); err != nil {
				return err
			}
		}
		if c.next == len(c.jobs) {
			return nil
		}
	}
	return b.Error()
}

// look calls Notice, once, if no worker can take the jobs.
func (c *client) look(ctx context.Context) {
	if c.warned || c.cfg.Notice == nil {
		return
	}
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
