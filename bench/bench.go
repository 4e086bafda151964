package bench

import "context"

// Verbs measures single requests, and calls emit with each row as soon as it is
// complete. Rows emitted before an error are valid.
func Verbs(ctx context.Context, cfg Config, emit func(Row) error) error {
	cfg, err := cfg.complete()
	if err != nil {
		return err
	}
	if cfg.Backend == Sim {
		return verbsInSimulator(ctx, cfg, emit)
	}
	return verbsOnCards(ctx, cfg, emit)
}
