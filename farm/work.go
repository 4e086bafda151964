package farm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// WorkerConfig configures [Work].
type WorkerConfig struct {
	Config
	Name    string // default: the host's name and the number of the process
	Program string // its file
	Dir     string // its source tree; empty: the worker takes no jobs that need it
	Logf    func(format string, args ...any)
}

// maxLost is how many workers may be lost with a job before it counts as failed.
const maxLost = 3

// worker is a worker that is connected.
type worker struct {
	cfg    WorkerConfig
	l      *link
	queues []jetstream.Consumer

	mu     sync.Mutex
	self   Worker
	cancel context.CancelFunc // ends the current job
	batch  string             // of the current job
}

// Work runs jobs, one at a time, until ctx ends. Then it returns nil: the current job goes back into its queue.
func Work(ctx context.Context, cfg WorkerConfig) error {
	w, err := newWorker(ctx, cfg)
	if err != nil {
		return err
	}
	defer w.l.close()
	cancelled, err := w.l.conn.Subscribe("verbatim.cancel.*", w.cancelled)
	if err != nil {
		return fmt.Errorf("farm: %w", err)
	}
	defer func() { _ = cancelled.Unsubscribe() }()
	alive, stop := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { w.beats(alive) })
	defer beats.Wait()
	defer stop()
	w.cfg.Logf("%s works on jobs of build %s", w.self.Name, w.self.Build)
	for ctx.Err() == nil {
		for _, q := range w.queues {
			w.take(ctx, q)
		}
	}
	return nil
}

func newWorker(ctx context.Context, cfg WorkerConfig) (*worker, error) {
	w := &worker{cfg: cfg, self: Worker{Name: cfg.Name, Cores: runtime.GOMAXPROCS(0)}}
	if w.cfg.Logf == nil {
		w.cfg.Logf = func(string, ...any) {}
	}
	if w.self.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "worker"
		}
		w.self.Name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	var err error
	if w.self.Build, err = Build(cfg.Program); err != nil {
		return nil, err
	}
	trees := []string{anyTree}
	if cfg.Dir != "" {
		if w.self.Tree, err = Tree(cfg.Dir); err != nil {
			return nil, err
		}
		trees = append(trees, w.self.Tree)
	}
	if w.l, err = connect(ctx, cfg.Config, "verbatim-farm work "+w.self.Name); err != nil {
		return nil, err
	}
	for _, tree := range trees {
		q, err := w.l.js.CreateOrUpdateConsumer(ctx, jobStream, jetstream.ConsumerConfig{Durable: "work-" + w.self.Build + "-" + tree,
			FilterSubject: jobSubject(w.self.Build, tree, "*"), AckPolicy: jetstream.AckExplicitPolicy, AckWait: 4 * w.l.cfg.beat(),
			InactiveThreshold: keep})
		if err != nil {
			w.l.close()
			return nil, fmt.Errorf("farm: the queue of build %s: %w", w.self.Build, err)
		}
		w.queues = append(w.queues, q)
	}
	return w, nil
}

// beats reports at intervals that the worker is alive.
func (w *worker) beats(ctx context.Context) {
	key := nuid.Next()
	tick := time.NewTicker(w.l.cfg.beat())
	defer tick.Stop()
	for {
		w.mu.Lock()
		b, err := json.Marshal(w.self)
		w.mu.Unlock()
		if err == nil {
			_, err = w.l.workers.Put(ctx, key, b)
		}
		if err != nil && ctx.Err() == nil {
			w.cfg.Logf("the server does not answer: %v", err)
		}
		select {
		case <-ctx.Done():
			gone, end := context.WithTimeout(context.Background(), w.l.cfg.beat())
			_ = w.l.workers.Delete(gone, key) // it expires otherwise
			end()
			return
		case <-tick.C:
		}
	}
}

// cancelled ends the current job if its client no longer wants it.
func (w *worker) cancelled(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil && m.Subject == "verbatim.cancel."+w.batch {
		w.cancel()
	}
}

// take waits a short time for a job of a queue, and runs it.
func (w *worker) take(ctx context.Context, q jetstream.Consumer) {
	batch, err := q.Fetch(1, jetstream.FetchMaxWait(min(w.l.cfg.beat()/2, time.Second)))
	if err == nil {
		for m := range batch.Messages() {
			w.handle(ctx, m)
			return
		}
		err = batch.Error()
	}
	if err != nil && !errors.Is(err, nats.ErrTimeout) {
		w.cfg.Logf("wait for a job: %v", err)
		select { // not at once again
		case <-ctx.Done():
		case <-time.After(w.l.cfg.beat()):
		}
	}
}

// handle runs a job and sends its result. Only then is the job removed from its queue.
func (w *worker) handle(ctx context.Context, m jetstream.Msg) {
	var o order
	meta, err := m.Metadata()
	if err == nil {
		err = json.Unmarshal(m.Data(), &o)
	}
	if err != nil || o.Batch == "" || len(o.Args) == 0 {
		w.cfg.Logf("a message on %s is no job: %v", m.Subject(), err)
		_ = m.TermWithReason("no job")
		return
	}
	r := &Result{Status: Failed, Lost: int(meta.NumDelivered) - 1}
	r.Stderr = fmt.Appendf(nil, "farm: %d workers were lost with this job: %s\n", r.Lost, line(o.Args))
	if r.Lost < maxLost {
		if r = w.run(ctx, &o, m); r == nil {
			return
		}
	}
	r.Worker = w.self.Name
	if err := w.send(ctx, &o, r); err != nil {
		w.cfg.Logf("the result of %s: %v", line(o.Args), err)
		_ = m.Nak()
		return
	}
	if err := m.DoubleAck(ctx); err != nil {
		w.cfg.Logf("%s may be run again: %v", line(o.Args), err)
	}
	w.mu.Lock()
	w.self.Done++
	w.mu.Unlock()
}

// run runs a job, and meanwhile reports to the queue that the job is still running. It returns nil if the job was
// abandoned: the worker stops, or the client no longer wants the result.
func (w *worker) run(ctx context.Context, o *order, m jetstream.Msg) *Result {
	job, stop := context.WithCancel(ctx)
	defer stop()
	w.current(o, stop)
	defer w.current(nil, nil)
	w.cfg.Logf("runs %s", line(o.Args))
	done := make(chan *Result, 1)
	go func() { done <- execute(job, w.cfg.Program, w.cfg.Dir, o.Args) }()
	tick := time.NewTicker(w.l.cfg.beat())
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			switch {
			case ctx.Err() != nil:
				w.giveBack(m)
				return nil
			case job.Err() != nil:
				_ = m.TermWithReason("cancelled")
				return nil
			}
			return r
		case <-tick.C:
			_ = m.InProgress()
		}
	}
}

// giveBack puts a job into its queue again, as a new message: the number of deliveries of the old one counts workers that
// were lost. If that fails, the queue later notices that the reports about the job have stopped.
func (w *worker) giveBack(m jetstream.Msg) {
	ctx, stop := context.WithTimeout(context.Background(), w.l.cfg.beat())
	defer stop()
	if _, err := w.l.js.Publish(ctx, m.Subject(), m.Data()); err == nil {
		_ = m.TermWithReason("given back")
	}
}

// current notes which job is being run.
func (w *worker) current(o *order, cancel context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.batch, w.self.Doing = cancel, "", nil
	if o != nil {
		w.batch, w.self.Doing = o.Batch, slices.Clone(o.Args)
	}
}

func (w *worker) send(ctx context.Context, o *order, r *Result) error {
	attempt := nuid.Next()
	ps, err := parts(o.Number, attempt, r, partSize)
	for i := 0; err == nil && i < len(ps); i++ {
		var b []byte
		if b, err = json.Marshal(ps[i]); err == nil {
			_, err = w.l.js.Publish(ctx, resultSubject(o.Batch), b, jetstream.WithMsgID(fmt.Sprint(attempt, ".", i)))
		}
	}
	return err
}

// line returns arguments as a line for people.
func line(args []string) string {
	text := ""
	for _, a := range args {
		text += " " + cmp.Or(a, `""`)
	}
	return text[min(1, len(text)):]
}
