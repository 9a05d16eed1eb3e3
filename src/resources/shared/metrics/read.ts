// Reads the metrics of a resource over a period from the store; nothing is asked of its host, so nothing is woken.
import type { Database } from "../../../store/database.ts";
import { metricPeriods, type InstanceMetricPeriod } from "../metrics-schema.ts";
import { COLUMNS, COMBINED, FIGURES, type Figure } from "./columns.ts";
import { floorTo, LEVELS, readRolled, type Level } from "./roll-up.ts";

/** The level whose rows are kept for a period, and are not longer than its points. */
const LEVEL_OF: Record<InstanceMetricPeriod, Level["name"]> = {
  "6h": "minutes",
  "24h": "minutes",
  "3d": "fives",
  "7d": "fives",
  "30d": "hours",
  "1y": "days",
};

/** What was measured of a resource in a stretch of time. */
export interface Stretch {
  atMs: number;
  /** How many of its minutes were measured; a stretch without any is left out. */
  minutes: number;
  /** The figures of the minutes in which the engine had a process; null while it slept all the time. */
  figures: (Partial<Record<Figure, number>> & { minutes: number }) | null;
}

/** The metrics of a resource over a period. */
export interface ResourceMetrics {
  period: InstanceMetricPeriod;
  /** The oldest first, without those in which nothing was measured or the resource did not exist. */
  stretches: Stretch[];
  /** The disk use as it is known now. */
  storageBytes: number | null;
}

/** A resource whose metrics are read. */
interface MeasuredResource {
  id: string;
  hostId: string;
  createdAt: string;
}

interface Row {
  isOwn: boolean;
  bucket: Date;
  minutes: number;
  [column: string]: unknown;
}

/** Reads at most as many stretches as the period has points. */
export async function readMetrics(
  db: Database,
  { id, hostId, createdAt }: MeasuredResource,
  period: InstanceMetricPeriod,
  nowMs = Date.now(),
): Promise<ResourceMetrics> {
  const { seconds, step } = metricPeriods[period];
  const stepMs = step * 1_000;
  const fromMs = floorTo(nowMs, stepMs) + stepMs - seconds * 1_000;
  const rows = await readRows(db, [id, hostId], { level: LEVEL_OF[period], fromMs, stepMs });
  const own = new Map(rows.filter(({ isOwn }) => isOwn).map((row) => [row.bucket.getTime(), row]));
  const firstMs = floorTo(Date.parse(createdAt), stepMs);
  const stretches = rows
    .filter(({ isOwn, bucket }) => !isOwn && bucket.getTime() >= firstMs)
    .map(({ bucket, minutes }) => {
      const row = own.get(bucket.getTime());
      return { atMs: bucket.getTime(), minutes, figures: row === undefined ? null : figuresOf(row) };
    });
  const [known] = await db<{ bytes: number | null }[]>`
    select storage_bytes::float8 as bytes from allocations where resource_id = ${id}`;
  return { period, stretches, storageBytes: known?.bytes ?? null };
}

/** The rows of a period come from the level that it names and, since that level was rolled up, from those before it. */
async function readRows(
  db: Database,
  ids: [own: string, host: string],
  { level, fromMs, stepMs }: { level: Level["name"]; fromMs: number; stepMs: number },
): Promise<Row[]> {
  const rolled = await readRolled(db);
  const last = LEVELS.findIndex(({ name }) => name === level);
  const parts: string[] = [];
  const moments: string[] = [];
  let beginMs = fromMs;
  for (const { name } of LEVELS.slice(0, last + 1).toReversed()) {
    const endMs = name === "minutes" ? null : (rolled[name] ?? beginMs);
    if (endMs !== null && endMs <= beginMs) continue;
    moments.push(
      new Date(beginMs).toISOString(),
      endMs === null ? "infinity" : new Date(endMs).toISOString(),
    );
    const at = (index: number) => `$${ids.length + moments.length + index}::timestamptz`;
    parts.push(
      `select * from metrics_${name} where resource_id in ($1, $2) and at >= ${at(-1)} and at < ${at(0)}`,
    );
    if (endMs !== null) beginMs = endMs;
  }
  const combined = COMBINED.map((expression, index) => `(${expression})::float8 as ${COLUMNS[index]}`);
  return await db.unsafe<Row[]>(
    `select resource_id = $1 as "isOwn", bucket, sum(minutes)::float8 as minutes, ${combined.join(", ")}
     from (
       select *, date_bin('${stepMs} milliseconds', at, '2000-01-01Z') as bucket
       from (${parts.join(" union all ")}) rows) rows
     group by resource_id, bucket order by bucket`,
    [...ids, ...moments],
  );
}

function figuresOf(row: Row): NonNullable<Stretch["figures"]> {
  const figures: NonNullable<Stretch["figures"]> = { minutes: row.minutes };
  for (const [index, name] of FIGURES.entries()) {
    const value = row[COLUMNS[index] ?? ""];
    if (typeof value === "number") figures[name] = value;
  }
  return figures;
}
