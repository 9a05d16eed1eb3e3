// Allots a port to a new instance: no other instance of the host has it, and no other program on the host listens on
// it.
import { ApiError } from "../../api/jsonapi/errors.ts";
import type { Database, Transaction } from "../../store/database.ts";
import type { KindContext, ServedHost } from "../kind.ts";
import { assertPortsLeft } from "./port-quota.ts";

/** The batch sizes of ports that the host probes: the first batch mostly suffices. */
const FIRST_BATCH = 3;
const LATER_BATCH = 256;

/** A create does not wait for a host that is away. The start of the instance then finds a port that is in use. */
const HOST_TIMEOUT_MS = 1_000;

/** Other transactions took the ports of a batch meanwhile; the next batch may have a free port. */
class PortsTaken extends Error {
  override name = "PortsTaken";
}

/** What the place of a new instance is chosen from. */
export interface PortOffer {
  ports: readonly number[];
  /** How many ports of the host a family of organizations may have; 0 is no limit. */
  limit: number;
}

/**
 * Has an instance inserted with a free port, and again with other ports when other transactions take these meanwhile.
 * @param insert runs a transaction that calls `takePort` with the offer.
 */
export async function withFreePort<T>(
  { db, quotas }: Pick<KindContext, "db" | "quotas">,
  host: Pick<ServedHost, "id" | "driver" | "portRange">,
  insert: (offer: PortOffer) => Promise<T>,
): Promise<T> {
  for await (const ports of freePorts(db, host)) {
    try {
      return await insert({ ports, limit: quotas.ports });
    } catch (error) {
      if (!(error instanceof PortsTaken)) throw error;
    }
  }
  throw new Error("the last batch of ports is never taken");
}

/**
 * Finds free ports outside of any transaction, since the host is asked. Yields them in batches, and an empty batch when
 * no port is left.
 */
async function* freePorts(
  db: Database,
  { id, driver, portRange }: Pick<ServedHost, "id" | "driver" | "portRange">,
): AsyncGenerator<number[]> {
  const size = portRange.last - portRange.first + 1;
  let [start, from, to] = [null as number | null, 0, FIRST_BATCH - 1];
  while (from < size) {
    const batch = await unclaimed(db, id, { ...portRange, size, start, from, to });
    start = batch.start;
    const ports = batch.candidates.map(({ port }) => port);
    const free = await driver.freePorts(ports, AbortSignal.timeout(HOST_TIMEOUT_MS)).catch(() => ports);
    if (free.length > 0) yield free;
    from = batch.candidates.length < LATER_BATCH ? to + 1 : (batch.candidates.at(-1)?.position ?? to) + 1;
    to = size - 1;
  }
  yield [];
}

/** An instance of an organization's resource, and the host on which it is placed. */
interface PlacedInstance {
  id: string;
  kind: string;
  resourceId: string;
  organizationId: string;
  hostId: string;
}

/**
 * Places a new instance, with one of the ports for its life, in the transaction that creates it.
 * @throws PortQuotaExceeded, ApiError 503 when no port is left, and PortsTaken when other transactions took all of them
 * meanwhile.
 */
export async function takePort(
  tx: Transaction,
  { id, kind, resourceId, organizationId, hostId }: PlacedInstance,
  { ports, limit }: PortOffer,
): Promise<number> {
  await assertPortsLeft(tx, { organizationId, hostId }, limit);
  for (const port of ports) {
    const rows = await tx`
      insert into instances (id, kind, resource_id, host_id, port, family_id)
      values (${id}, ${kind}, ${resourceId}, ${hostId}, ${port},
              (select family_id from organizations where id = ${organizationId}))
      on conflict (host_id, port) do nothing returning port`;
    if (rows.length > 0) return port;
  }
  if (ports.length > 0) throw new PortsTaken();
  throw new ApiError(503, "All ports for instances are in use. PILVI_PORT_RANGE can give more.");
}

/**
 * The next unclaimed ports. The search begins at another port each time and wraps around, so concurrent transactions
 * rarely choose the same.
 */
async function unclaimed(
  db: Database,
  hostId: string,
  search: { first: number; size: number; start: number | null; from: number; to: number },
): Promise<{ start: number; candidates: { position: number; port: number }[] }> {
  const { first, size, start, from, to } = search;
  const rows = await db<{ start: number; position: number | null; port: number }[]>`
    with cursor as materialized (select coalesce(${start}::bigint, nextval('port_cursor')) as start)
    select (start % ${size}::int)::int as start, c.position, c.port from cursor
    left join lateral (
      select position, port
      from generate_series(${from}::int, ${to}::int) position,
        lateral (select (${first}::int + (start + position) % ${size}::int)::int as port) p
      where not exists (select from instances i where i.host_id = ${hostId} and i.port = p.port)
      order by position limit ${LATER_BATCH}) c on true
    order by c.position`;
  const candidates = rows.flatMap(({ position, port }) => (position === null ? [] : [{ position, port }]));
  return { start: rows[0]?.start ?? 0, candidates };
}
