package etcd

import clientv3 "go.etcd.io/etcd/client/v3"

// Raw is the connection of c, for what a coord.Client has no words for.
func Raw(c *Client) *clientv3.Client { return c.etcd }
