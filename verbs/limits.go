package verbs

import (
	"cmp"
	"fmt"
)

// Resolve checks what a program asks of a queue pair against what its device can do, and
// fills in the defaults. The rules are the same for every device.
func (c QPConfig) Resolve(a *DeviceAttr) (QPConfig, error) {
	c.MaxSendWR = cmp.Or(c.MaxSendWR, 64)
	c.MaxRecvWR = cmp.Or(c.MaxRecvWR, 64)
	c.MaxSGE = cmp.Or(c.MaxSGE, min(4, a.MaxSGE))
	c.MaxRdAtomic = cmp.Or(c.MaxRdAtomic, a.MaxRdAtomic)
	c.RetryCount = cmp.Or(c.RetryCount, 7)
	c.RNRRetry = cmp.Or(c.RNRRetry, 7)
	for _, f := range [...]struct {
		name           string
		v, least, most int
	}{
		{"MaxSendWR", c.MaxSendWR, 1, a.MaxQPWR}, {"MaxRecvWR", c.MaxRecvWR, 1, a.MaxQPWR},
		{"MaxSGE", c.MaxSGE, 1, a.MaxSGE}, {"MaxInline", c.MaxInline, 0, a.MaxInline},
		{"MaxRdAtomic", c.MaxRdAtomic, 0, a.MaxRdAtomic}, {"RetryCount", c.RetryCount, 0, 7},
		{"RNRRetry", c.RNRRetry, 0, 7}, {"PSN", int(c.PSN), 0, 1<<24 - 1},
	} {
		if f.v < f.least || f.v > f.most {
			return c, fmt.Errorf("%w: %s is %d; it must be %d to %d", ErrInvalid, f.name, f.v, f.least, f.most)
		}
	}
	return c, CheckAccess(c.Access, a.HasFlush)
}
