# A card as one might find it: strong, but with PCIe relaxed ordering switched on
# and the small inline limit of a cloud instance. See docs/profiles.md.
name mycard
base strong

Placement AnyOrder      # relaxed ordering: no order between or within Writes
ReadsSeeAcked false     # a Read may overtake what was acknowledged
MaxInline 32            # bytes, from ibv_query_qp
