// The paths of arrows between lanes: straight if no word is in the way, and otherwise between rows and beside lanes.

export interface Point { x: number; y: number }

export interface Box { left: number; top: number; right: number; bottom: number }

// gutter is the distance between a lane and a path beside it. slack is the least distance between a straight path and a
// word.
const gutter = 5;
const slack = 3;

export class Routes {
  constructor(
    private readonly words: Box[][], // by row, from top to bottom
    private readonly gaps: number[], // by row: the free height below its words
  ) {}

  // way returns the path from a lane in one row to a lane in another. The number shifts a bent path, so that paths with
  // consecutive numbers do not overlap.
  way(from: Point, to: Point, first: number, last: number, number: number): Point[] {
    const rows = this.words.slice(first, last + 1);
    const free = (a: Point) => !rows.some((row) => row.some((b) => crosses(a, to, b)));
    if (last > first && free(from)) return [from, to];
    const gap = { x: from.x, y: this.gaps[first] - 2 * (number % 3) };
    if (last > first && free(gap)) return [from, gap, to];
    const beside = to.x + (from.x > to.x ? 1 : -1) * (gutter - (number % 3));
    const turn = to.y + (to.y > gap.y ? -gutter : gutter);
    return [from, gap, { x: beside, y: gap.y }, { x: beside, y: turn }, to];
  }
}

// crosses reports whether a straight line touches a box, or comes closer than slack.
function crosses(a: Point, b: Point, box: Box): boolean {
  let [from, to] = [0, 1];
  const cut = (d: number, room: number): boolean => {
    if (d === 0) return room >= 0;
    const t = room / d;
    if (d < 0) from = Math.max(from, t);
    else to = Math.min(to, t);
    return from <= to;
  };
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  return cut(-dx, a.x - box.left + slack) && cut(dx, box.right + slack - a.x) && cut(-dy, a.y - box.top + slack) && cut(dy, box.bottom + slack - a.y);
}
