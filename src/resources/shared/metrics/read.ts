// Reads the metrics of a resource over a period from the store; nothing is asked of its host, so nothing is woken.
import type { Database } from "../../../store/database.ts";
import {
  metricPeriods,
  secondsOfStep,
  type InstanceMetricPeriod,
  type MetricStep,
} from "../metrics-schema.ts";
import { COLUMNS, COMBINED, FIGURES, type Figure } from "./columns.ts";
import { floorTo, LEVELS, readRolled, type Level } from "./roll-up.ts";

/** What was measured of a resource in a stretch of time. */
export interface Stretch {
  atMs: number;
  /** How many of its minutes were measured; a stretch without any is left out. */
  minutes: number;
  /** The figures of the minutes in which the engine had a process; null while it slept all the time. */
  figures: Figures | null;
  /** How far the replica is behind that is furthest behind; null without a replica whose lag was known. */
  replicaLagSeconds: number | null;
  /** The disk use that was measured of each instance. */
  storageBytes: StorageBytes;
}

/** The disk use by the id of an instance: the resource's own, or a replica's. */
type StorageBytes = Readonly<Record<string, number>>;

type Figures = Partial<Record<Figure, number>> & { minutes: number };

/** The metrics of a resource over a period. */
export interface ResourceMetrics {
  /** The oldest first, without those in which nothing was measured or the resource did not exist. */
  stretches: Stretch[];
  /** The id of the resource, which is that of its own instance. */
  id: string;
  /** The disk use of each instance as it is known now. */
  storageBytes: StorageBytes;
}

/** A resource, or a part of one, whose metrics are read. */
interface MeasuredResource {
  id: string;
  hostId: string;
  createdAt: string;
}

interface Row {
  /** The id of an instance of the resource, or that of its host. */
  of: string;
  bucket: Date;
  minutes: number;
  [column: string]: unknown;
}

/** Reads the stretches of a period, each as long as a step. */
export async function readMetrics(
  db: Database,
  { id, hostId, createdAt }: MeasuredResource,
  { period, step }: { period: InstanceMetricPeriod; step: MetricStep },
  nowMs = Date.now(),
): Promise<ResourceMetrics> {
  const stepMs = secondsOfStep(step) * 1_000;
  const fromMs = floorTo(nowMs, stepMs) + stepMs - metricPeriods[period].seconds * 1_000;
  // The rows of the longest stretches that are not longer than a step.
  const level = LEVELS.findLast(({ ms }) => ms <= stepMs)?.name ?? "minutes";
  const instances = await db<{ id: string; bytes: number }[]>`
    select id, storage_bytes::float8 as bytes from instances where resource_id = ${id} order by id`;
  // A part of a resource has figures, and no instance of its own.
  const ids = [...new Set([hostId, id, ...instances.map((instance) => instance.id)])];
  const rows = await readRows(db, ids, { level, fromMs, stepMs });
  const firstMs = floorTo(Date.parse(createdAt), stepMs);
  const stretches = [...Map.groupBy(rows, ({ bucket }) => bucket.getTime())].flatMap(([atMs, together]) => {
    const host = together.find(({ of }) => of === hostId);
    return host === undefined || atMs < firstMs ? [] : [stretchOf(id, host, together)];
  });
  const storageBytes = Object.fromEntries(instances.map((instance) => [instance.id, instance.bytes]));
  return { id, stretches, storageBytes };
}

/** The rows of a period come from the level that it names and, since that level was rolled up, from those before it. */
async function readRows(
  db: Database,
  ids: readonly string[],
  { level, fromMs, stepMs }: { level: Level["name"]; fromMs: number; stepMs: number },
): Promise<Row[]> {
  const rolled = await readRolled(db);
  const last = LEVELS.findIndex(({ name }) => name === level);
  const parts: string[] = [];
  const moments: string[] = [];
  const among = ids.map((_, index) => `$${index + 1}`).join(", ");
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
      `select * from metrics_${name} where resource_id in (${among}) and at >= ${at(-1)} and at < ${at(0)}`,
    );
    if (endMs !== null) beginMs = endMs;
  }
  const combined = COMBINED.map((expression, index) => `(${expression})::float8 as ${COLUMNS[index]}`);
  return await db.unsafe<Row[]>(
    `select resource_id as of, bucket, sum(minutes)::float8 as minutes, ${combined.join(", ")}
     from (
       select *, date_bin('${stepMs} milliseconds', at, '2000-01-01Z') as bucket
       from (${parts.join(" union all ")}) rows) rows
     group by resource_id, bucket order by bucket`,
    [...ids, ...moments],
  );
}

/** @param together the rows of the host and of all instances of the resource in a stretch. */
function stretchOf(id: string, { of: hostId, bucket, minutes }: Row, together: readonly Row[]): Stretch {
  const instances = together
    .filter(({ of }) => of !== hostId)
    .map((row) => ({ of: row.of, figures: figuresOf(row) }));
  const lags = instances.flatMap(({ figures }) => figures.replicaLagSeconds ?? []);
  return {
    atMs: bucket.getTime(),
    minutes,
    figures: instances.find(({ of }) => of === id)?.figures ?? null,
    replicaLagSeconds: lags.length === 0 ? null : Math.max(...lags),
    storageBytes: Object.fromEntries(
      instances.flatMap(({ of, figures: { storageBytes: bytes } }) =>
        bytes === undefined ? [] : [[of, bytes]],
      ),
    ),
  };
}

function figuresOf(row: Row): Figures {
  const figures: Figures = { minutes: row.minutes };
  for (const [index, name] of FIGURES.entries()) {
    const value = row[COLUMNS[index] ?? ""];
    if (typeof value === "number") figures[name] = value;
  }
  return figures;
}
