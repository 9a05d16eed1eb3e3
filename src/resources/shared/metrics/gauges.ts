// The Prometheus metrics of instances, of the last whole minute in the store: a scrape asks no engine.
import type { FigureFamily, FigureSource, LabelledFigure } from "../../../api/http/metrics.ts";
import type { KindContext } from "../../kind.ts";
import { columnOf, type Figure } from "./columns.ts";

/** An instance whose last minute is older does not run. */
const RECENT_SECONDS = 150;

const MINUTE_SECONDS = 60;
const MINUTE_MS = 60_000;

/** A figure of the last minute as a gauge. */
interface InstanceGauge extends FigureFamily {
  figure: Figure;
  /** The figure divided by this is the value. */
  divisor: number;
}

type Row = { kind: string; id: string } & Record<Figure, number | null>;

/** Wakes and the lag of replicas are not here: they have metrics of their own, which are read from memory. */
const GAUGES: readonly InstanceGauge[] = [
  share("processors", "cpuMs", "Processors that a running instance used in its last minute."),
  {
    ...share("awake_ratio", "awakeMs", "The part of its last minute in which an instance ran."),
    isNeverSummed: true,
  },
  level("memory_bytes", "memoryBytes", "Memory of all processes of a running instance."),
  level("storage_bytes", "storageBytes", "Disk use of a running instance."),
  level("connections", "connections", "Connections to the engine of a running instance."),
  level("active_connections", "activeConnections", "Connections to a running Postgres in a statement."),
  level(
    "idle_in_transaction_connections",
    "idleInTransactionConnections",
    "Connections to a running Postgres that wait in a transaction.",
  ),
  level("blocked_connections", "blockedConnections", "Connections to a running cache in a blocking command."),
  level(
    "gateway_connections",
    "gatewayConnections",
    "Clients of a cache or database cluster that have logged in at the gateway, also while it sleeps.",
  ),
  level("keys", "keys", "Keys of a running cache."),
  level("data_bytes", "dataBytes", "Memory of keys and values of a running cache."),
  rate("hits", "hits", "Reads of keys of a running cache that were there."),
  rate("misses", "misses", "Reads of keys of a running cache that were not there."),
  rate("commands", "commands", "Commands of a running cache, with a few of Pilvi's own."),
  rate("evicted_keys", "evictedKeys", "Keys that a running cache removed for room."),
  rate("expired_keys", "expiredKeys", "Keys that a running cache removed for age."),
  rate("network_in_bytes", "networkInBytes", "Bytes from clients to a running cache or MySQL."),
  rate("network_out_bytes", "networkOutBytes", "Bytes to clients from a running cache or MySQL."),
  rate("commits", "commits", "Committed transactions of a running database cluster."),
  rate("rollbacks", "rollbacks", "Rolled back transactions of a running database cluster."),
  rate("rows_written", "rowsWritten", "Rows inserted, updated and deleted in a running database cluster."),
  rate("blocks_hit", "blocksHit", "Blocks that a running database cluster read from memory."),
  rate("blocks_read", "blocksRead", "Blocks that a running database cluster read from elsewhere."),
  rate("deadlocks", "deadlocks", "Transactions that were rolled back since they waited for each other."),
  rate(
    "messages_received",
    "messagesReceived",
    "Messages of clients and publishers of a running WebSocket cluster.",
  ),
  rate("messages_sent", "messagesSent", "Messages to clients of a running WebSocket cluster."),
  rate("api_requests", "apiRequests", "Requests of the HTTP API of a running WebSocket cluster."),
  rate(
    "webhooks_delivered",
    "webhooksDelivered",
    "Webhook requests of a running WebSocket cluster that were taken.",
  ),
  rate("webhooks_failed", "webhooksFailed", "Attempts of webhook requests that were not taken."),
  rate("webhooks_dropped", "webhooksDropped", "Webhook requests that were given up."),
  rate("wal_bytes", "walBytes", "Bytes that a running database cluster wrote to its log of changes."),
];

/** What an instance has that sleeps. */
const ASLEEP = GAUGES.filter(({ figure }) => figure === "gatewayConnections");

/** All names are constants, safe in SQL. */
const SELECTED = GAUGES.map(({ figure }) => `m.${columnOf(figure)} as "${figure}"`).join(", ");

/** The gauges of all running instances, or of those of an organization. */
export const instanceGauges: FigureSource<KindContext> = {
  families: [...GAUGES],
  async read({ db }, organizationId): Promise<LabelledFigure[]> {
    const rows = await db.unsafe<Row[]>(
      `select distinct on (m.resource_id) a.kind, m.resource_id as id, ${SELECTED}
       from metrics_minutes m join allocations a using (resource_id)
       where m.at > now() - make_interval(secs => ${RECENT_SECONDS})
         and ($1::text is null or a.organization_id = $1)
       order by m.resource_id, m.at desc`,
      [organizationId ?? null],
    );
    return rows.flatMap(gaugesOf);
  },
};

/** A figure that the engine does not have, or did not answer, has no line. */
function gaugesOf({ kind, id, ...figures }: Row): LabelledFigure[] {
  const isAwake = (figures.awakeMs ?? 0) > 0;
  return (isAwake ? GAUGES : ASLEEP).flatMap(({ name, figure, divisor }) => {
    const value = figures[figure];
    return value === null ? [] : [{ name, labels: { kind, id }, value: value / divisor }];
  });
}

/** A value at the end of the minute, or its mean. */
function level(name: string, figure: Figure, help: string, divisor = 1): InstanceGauge {
  const labels = { labels: ["kind", "id"], idLabels: ["id"] };
  return { name: `pilvi_instance_${name}`, help, type: "gauge", ...labels, figure, divisor };
}

/** A time in milliseconds, as a part of the minute. */
function share(name: string, figure: Figure, help: string): InstanceGauge {
  return level(name, figure, help, MINUTE_MS);
}

/** What the minute has counted, for each second. */
function rate(name: string, figure: Figure, help: string): InstanceGauge {
  return level(`${name}_per_second`, figure, help, MINUTE_SECONDS);
}
