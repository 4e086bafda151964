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
	"strings"
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
			if err := w.take(ctx, q); err != nil {
				return err
			}
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
	if cfg.Dir != "" {
		if w.self.Tree, err = Tree(cfg.Dir); err != nil {
			return nil, err
		}
	}
	if w.l, err = connect(ctx, cfg.Config, "verbatim-farm work "+w.self.Name); err != nil {
		return nil, err
	}
	if err := w.bind(ctx); err != nil {
		w.l.close()
		return nil, err
	}
	return w, nil
}

// bind finds the worker's queues, and makes them if they are missing.
func (w *worker) bind(ctx context.Context) error {
	trees := []string{anyTree}
	if w.self.Tree != "" {
		trees = append(trees, w.self.Tree)
	}
	var queues []jetstream.Consumer
	for _, tree := range trees {
		q, err := w.l.js.CreateOrUpdateConsumer(ctx, jobStream, jetstream.ConsumerConfig{Durable: "work-" + w.self.Build + "-" + tree,
			FilterSubject: jobSubject(w.self.Build, tree, "*"), AckPolicy: jetstream.AckExplicitPolicy, AckWait: 4 * w.l.cfg.beat(),
			InactiveThreshold: keep})
		if err != nil {
			return fmt.Errorf("farm: the queue of build %s: %w", w.self.Build, err)
		}
		queues = append(queues, q)
	}
	w.queues = queues
	return nil
}

// same returns an error if the program, or the source tree of a job that needs it, is no longer what the queue is named after.
func (w *worker) same(source bool) error {
	build, err := Build(w.cfg.Program)
	if err == nil && build != w.self.Build {
		err = fmt.Errorf("%w: the program %s has changed since the worker began: start the worker again", ErrConfig, w.cfg.Program)
	}
	if err != nil || !source {
		return err
	}
	tree, err := Tree(w.cfg.Dir)
	if err == nil && tree != w.self.Tree {
		err = fmt.Errorf("%w: the source tree %s has changed since the worker began: start the worker again", ErrConfig, w.cfg.Dir)
	}
	return err
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

// take waits a short time for a job of a queue, and runs it. Its error ends the worker.
func (w *worker) take(ctx context.Context, q jetstream.Consumer) error {
	batch, err := q.Fetch(1, jetstream.FetchMaxWait(min(w.l.cfg.beat()/2, time.Second)))
	if err == nil {
		for m := range batch.Messages() {
			return w.handle(ctx, m)
		}
		err = batch.Error()
	}
	if err != nil && !errors.Is(err, nats.ErrTimeout) && ctx.Err() == nil {
		w.cfg.Logf("wait for a job: %v", err)
		select { // not at once again
		case <-ctx.Done():
			return nil
		case <-time.After(w.l.cfg.beat()):
		}
		// A server that came back may have an empty folder.
		if _, err := w.l.js.Stream(ctx, jobStream); errors.Is(err, jetstream.ErrStreamNotFound) {
			_, _ = w.l.streams(ctx) // if it fails, bind does, too
		}
		_ = w.bind(ctx)
	}
	return nil
}

// handle runs a job and sends its result. Only then is the job removed from its queue.
func (w *worker) handle(ctx context.Context, m jetstream.Msg) error {
	var o order
	meta, err := m.Metadata()
	if err == nil {
		err = json.Unmarshal(m.Data(), &o)
	}
	if err != nil || o.Batch == "" || len(o.Args) == 0 || !strings.HasSuffix(m.Subject(), "."+o.Batch) {
		w.cfg.Logf("a message on %s is no job: %v", m.Subject(), err)
		_ = m.TermWithReason("no job")
		return nil
	}
	r := &Result{Status: Failed, Lost: int(meta.NumDelivered) - 1}
	r.Stderr = fmt.Appendf(nil, "farm: %d workers were lost with this job: %s\n", r.Lost, line(o.Args))
	if r.Lost < maxLost {
		if err := w.same(o.Source); err != nil {
			w.giveBack(m)
			return err
		}
		if r = w.run(ctx, &o, m); r == nil {
			return nil
		}
		if err := w.same(o.Source); err != nil { // what ran is not known
			w.giveBack(m)
			return err
		}
	}
	r.Worker = w.self.Name
	if err := w.send(ctx, &o, r, m); err != nil {
		w.cfg.Logf("the result of %s: %v", line(o.Args), err)
		_ = m.Nak()
		return nil
	}
	if err := m.DoubleAck(ctx); err != nil {
		w.cfg.Logf("%s may be run again: %v", line(o.Args), err)
	}
	w.mu.Lock()
	w.self.Done++
	w.mu.Unlock()
	return nil
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
			if w.withdrawn(job, m) {
				stop()
			}
		}
	}
}

// withdrawn reports whether the job is no longer in its queue: its client ended, and the message that says so was missed.
func (w *worker) withdrawn(ctx context.Context, m jetstream.Msg) bool {
	meta, err := m.Metadata()
	if err != nil {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, w.l.cfg.beat())
	defer stop()
	s, err := w.l.js.Stream(ctx, jobStream)
	if err != nil {
		return false // later
	}
	_, err = s.GetMsg(ctx, meta.Sequence.Stream)
	return errors.Is(err, jetstream.ErrMsgNotFound)
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

// send sends a result. While the server does not answer it tries again: the result may be that of hours. A part that
// arrives twice counts once.
func (w *worker) send(ctx context.Context, o *order, r *Result, m jetstream.Msg) error {
	attempt := nuid.Next()
	ps, err := parts(o.Number, attempt, r, partSize)
	if err != nil {
		return err
	}
	for i := range ps {
		b, err := json.Marshal(ps[i])
		if err != nil {
			return err
		}
		for {
			_ = m.InProgress()
			if _, err = w.l.js.Publish(ctx, resultSubject(o.Batch), b, jetstream.WithMsgID(fmt.Sprint(attempt, ".", i))); err == nil {
				break
			}
			if ctx.Err() != nil || !away(err) {
				return err
			}
			w.cfg.Logf("the result of %s waits: %v", line(o.Args), err)
			select {
			case <-ctx.Done():
			case <-time.After(w.l.cfg.beat()):
			}
		}
	}
	return nil
}

// away reports whether an error may mean that the server is away for a time.
func away(err error) bool {
	for _, x := range []error{nats.ErrTimeout, context.DeadlineExceeded, nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded} {
		if errors.Is(err, x) {
			return true
		}
	}
	return false
}

// line returns arguments as a line for people.
func line(args []string) string {
	text := ""
	for _, a := range args {
		text += " " + cmp.Or(a, `""`)
	}
	return text[min(1, len(text)):]
}
