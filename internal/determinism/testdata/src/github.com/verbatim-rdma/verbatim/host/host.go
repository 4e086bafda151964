package host

type Host interface{ Now() int64 }
