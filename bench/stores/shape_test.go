package stores

import "testing"

// With codes each memory node has a chunk of every block, and the store has room for as many records as without.
func TestShapes(t *testing.T) {
	for f := 1; f <= 4; f++ {
		c := Config{F: f, Records: 10, Operations: 20, Workloads: []string{"A"}, Rounds: 1}
		whole, plain := c.siftShape(0)
		coded, l := c.siftShape(f + 1)
		if plain.Chunks != 0 || l.Chunks != f+1 || l.Block%(8*(f+1)) != 0 || coded.Blocks != whole.Blocks || coded.Value < whole.Value {
			t.Errorf("F=%d: %+v and %+v, %+v and %+v", f, whole, plain, coded, l)
		}
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
	}
}
