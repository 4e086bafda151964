package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/codec/reclog"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// writeFlags are the flags of the command write.
type writeFlags struct {
	fileFlags
	size                 size
	resume, show, framed bool
	watch                time.Duration
}

// newNCLWrite returns the command that writes records into a file.
func newNCLWrite() *cobra.Command {
	f := &writeFlags{size: 1 << 20}
	c := &cobra.Command{
		Use:   "write",
		Short: "Write records from standard input into a file",
		Long: `Write creates a file in the memory of the peers and appends the records of its standard
input: one for each line, without the line feed, or with --framed one for each length (4
bytes, big-endian) and that many bytes.

The first line of its output is 'start', once it is the only instance of its
application, and the second 'open: 0 records, 3 of 3 peers: NAMES', once the file
exists. Then it prints 'ack N' for each record, counted from 1 in the file, as soon as
the protocol has acknowledged it and before it reads the next record. Whenever the
process dies, a recovery finds every record that has such a line, and at most one more.

A failed peer is replaced by another registered one, with the whole content of the file;
then a line 'repair: 3 of 3 peers: NAMES' appears. While no replacement is available, it
continues with f+1 peers, and exits with fewer.

The file stays when the writer exits, so that --resume can continue after a recovery, or
'verbatim-run ncl recover' can read it. It takes 8 bytes for each record in addition to
the data.

Only one instance of an application runs at a time: a second one waits for the first to
exit, for as long as --wait. An instance that was killed, or that stalled for too long,
counts as running until its session expires. If it continues after that, it reports an
expired session, and nothing that it had acknowledged is lost.

Exit status: 0 all records are acknowledged, 2 bad usage or input, an unusable device or
address, or a file that exists already (or does not, with --resume) or is full, 3 too
few peers answer, the coordinator does not answer, another instance runs, or the session
has expired. Records without a line may be lost.`,
		Example: `  journal | verbatim-run ncl write --file wal --coord 10.0.0.9:7000`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return ended(runNCLWrite(c, f), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	f.define(c)
	fl.Var(&f.size, "size", "size of the new file")
	fl.BoolVar(&f.resume, "resume", false, "recover the file and continue after its last record")
	fl.BoolVar(&f.show, "show", false, "with --resume: first print the recovered records, as 'recover --json' does")
	defineWatch(fl, &f.watch)
	fl.BoolVar(&f.framed, "framed", false, "each record is preceded by its length (4 bytes, big-endian)")
	return c
}

func runNCLWrite(c *cobra.Command, f *writeFlags) error {
	switch {
	case f.resume && c.Flags().Changed("size"):
		return errors.New("--size is for a new file: omit it with --resume")
	case f.show && !f.resume:
		return errors.New("--show needs --resume")
	case f.size > ncl.MaxSize:
		return fmt.Errorf("--size %v: at most %d bytes", &f.size, ncl.MaxSize)
	}
	if err := checkWatch(f.watch); err != nil {
		return err
	}
	f.started = func() { fmt.Fprintf(c.OutOrStdout(), "start: this is the instance of %s\n", f.host.name) }
	return f.withLog(c.ErrOrStderr(), f.open, func(i *cluster.Instance, file *ncl.File, l reclog.Log) error { return f.write(c, i, file, l) })
}

// defineWatch defines the interval at which the peers of a file are checked.
func defineWatch(fl *pflag.FlagSet, d *time.Duration) {
	fl.DurationVar(d, "watch-every", 5*time.Second, "how often to check all peers even if nothing is written, and to replace those that have failed; 0: never")
}

func checkWatch(d time.Duration) error {
	if d < 0 || d > 0 && d < 100*time.Millisecond {
		return fmt.Errorf("--watch-every %v: at least 100ms, or 0 for never", d)
	}
	return nil
}

// repairEvery is how often to look for another peer while there are too few.
const repairEvery = 5 * time.Second

// write appends the input to the records l of the file.
func (f *writeFlags) write(c *cobra.Command, i *cluster.Instance, file *ncl.File, l reclog.Log) error {
	out := cli.Locked(c.OutOrStdout())
	opened := false
	m := &ncl.Maintained{File: file, Every: repairEvery, Told: func(err error) {
		if err != nil {
			f.log(c.ErrOrStderr())("failed peers are not replaced: %v", err)
		}
		if opened {
			fmt.Fprintf(out, "repair: %s\n", whichPeers(file))
		}
	}}
	m.Maintain()
	w, err := newLogWriter(i.Own(m), l)
	if err != nil {
		return err
	}
	if f.show {
		if err := printJSON(out, l.Records); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "open: %d records, %s\n", w.n, whichPeers(file))
	opened = true
	if f.watch > 0 {
		m.Watch(f.watch)
		defer m.Close() // waits for the watch, which may be replacing a peer
	}
	in := &recordReader{r: bufio.NewReader(c.InOrStdin()), framed: f.framed, limit: m.Size() - reclog.Header}
	return w.writeAll(in, out)
}

// whichPeers returns the number and the names of the file's live peers.
func whichPeers(file *ncl.File) string {
	return fmt.Sprintf("%d of %d peers: %s", file.Alive(), len(file.Peers()), strings.Join(file.AlivePeers(), " "))
}

func (f *writeFlags) open(h host.Host, cfg ncl.Config) (*ncl.File, error) {
	if f.resume {
		return f.recover(h, cfg)
	}
	file, err := ncl.Create(h, cfg, f.file, int(f.size))
	if errors.Is(err, ncl.ErrExists) || errors.Is(err, ncl.ErrRejected) {
		// Not %w: the peers answer and refuse, so a later attempt is no remedy.
		return nil, fmt.Errorf("%v; %s", err, createHint(err))
	}
	return file, err
}

// createHint suggests a remedy if a new file cannot be created. A peer sends the reason of its
// refusal as text.
func createHint(err error) string {
	switch {
	case errors.Is(err, ncl.ErrExists):
		return "continue it with --resume, or read and delete it with 'verbatim-run ncl recover --release'"
	case strings.Contains(err.Error(), "no memory"), strings.Contains(err.Error(), "left to lend"):
		return "use a smaller --size, or give the peer more --memory"
	}
	return "use another --file, or check the peers' output"
}

// withLog opens the file, as the only instance of its application, and calls use with the
// records of the file.
func (f *fileFlags) withLog(stderr io.Writer, open func(host.Host, ncl.Config) (*ncl.File, error),
	use func(*cluster.Instance, *ncl.File, reclog.Log) error) error {
	h, cfg, err := f.config(stderr)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	i, err := f.start(h, cfg)
	if err != nil {
		return err
	}
	defer i.Close()
	cfg.Coord = i.Guard(cfg.Coord)
	if f.started != nil {
		f.started()
	}
	file, err := open(h, cfg)
	if err != nil {
		return i.Explain(err)
	}
	defer file.Close()
	l, err := readLog(file)
	if err != nil {
		return err
	}
	return use(i, file, l)
}

func (f *fileFlags) recover(h host.Host, cfg ncl.Config) (*ncl.File, error) {
	file, err := ncl.Recover(h, cfg, f.file)
	if errors.Is(err, ncl.ErrNotFound) {
		err = fmt.Errorf("%w; check --app (%s) and --file, or is this another coordinator?", err, cfg.App)
	}
	return file, err
}

// recoverFlags are the flags of the command recover.
type recoverFlags struct {
	fileFlags
	release, framed, asJSON bool
}

// newNCLRecover returns the command that reads a file after a crash.
func newNCLRecover() *cobra.Command {
	f := &recoverFlags{}
	c := &cobra.Command{
		Use:   "recover",
		Short: "Recover a file and print its records",
		Long: `Recover returns the file from the peers: every acknowledged record in order, and
possibly one more. It prints one record per line, and a summary on standard error. It is
an instance of the application, so it waits for a writer to exit.

--json prints one object per line for each record, with the keys record (counted from 1)
and data (base64), and then one with the keys file, records, used and size (bytes),
remains (bytes of an unacknowledged record, omitted), epoch, peers, alive and released.
With --framed each record is preceded by its length.

With --release the file is deleted after it was printed.

Exit status: 0 done, 2 bad usage, an unusable device or address, no such file, or
records with line feeds that would be printed as lines, 3 too few peers answer, the
coordinator does not answer, another instance runs, or the session has expired.`,
		Example: `  verbatim-run ncl recover --file wal --coord 10.0.0.9:7000`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return ended(runNCLRecover(c, f), c.ErrOrStderr()) },
	}
	f.define(c)
	fl := c.Flags()
	fl.BoolVar(&f.release, "release", false, "delete the file after it was printed")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	fl.BoolVar(&f.framed, "framed", false, "print each record preceded by its length (4 bytes, big-endian)")
	c.MarkFlagsMutuallyExclusive("json", "framed")
	return c
}

// recovered is the last line of --json.
type recovered struct {
	File     string `json:"file"`
	Records  int    `json:"records"`
	Used     int    `json:"used"`
	Size     int    `json:"size"`
	Remains  int    `json:"remains"`
	Epoch    uint32 `json:"epoch"`
	Peers    int    `json:"peers"`
	Alive    int    `json:"alive"`
	Released bool   `json:"released"`
}

func runNCLRecover(c *cobra.Command, f *recoverFlags) error {
	return f.withLog(c.ErrOrStderr(), f.recover, func(_ *cluster.Instance, file *ncl.File, l reclog.Log) error {
		return f.report(c, file, l)
	})
}

// report prints the records l of the file, and deletes the file if --release is set.
func (f *recoverFlags) report(c *cobra.Command, file *ncl.File, l reclog.Log) error {
	r := recovered{File: f.file, Records: len(l.Records), Used: l.Used, Size: file.Size(), Remains: l.Remains,
		Epoch: file.Stamp().Epoch(), Peers: len(file.Peers()), Alive: file.Alive(), Released: f.release}
	if err := f.print(c.OutOrStdout(), l.Records); err != nil {
		return err
	}
	if f.release {
		if err := file.Release(); err != nil {
			return err
		}
	}
	if f.asJSON {
		return cli.Lines(c.OutOrStdout()).Encode(r)
	}
	r.summary(c.ErrOrStderr())
	return nil
}

func (f *recoverFlags) print(w io.Writer, records [][]byte) error {
	switch {
	case f.asJSON:
		return printJSON(w, records)
	case f.framed:
		return printFramed(w, records)
	}
	for i, r := range records {
		if bytes.IndexByte(r, '\n') >= 0 {
			return fmt.Errorf("record %d contains a line feed: nothing was printed; use --json or --framed", i+1)
		}
	}
	return printLines(w, records)
}

func (r *recovered) summary(w io.Writer) {
	fmt.Fprintf(w, "verbatim-run: file %s: %d records, %d of %d bytes, epoch %d, %d of %d peers", r.File, r.Records, r.Used, r.Size,
		r.Epoch, r.Alive, r.Peers)
	if r.Remains > 0 {
		fmt.Fprint(w, "; part of an unacknowledged record is omitted")
	}
	if r.Released {
		fmt.Fprint(w, "; deleted")
	}
	fmt.Fprintln(w)
}
