// Gives a new cache its port: one that no other resource has and that nothing else on this machine listens on.
import type { Transaction } from "../../store/database.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";

/** What a port is taken for. */
export interface PortWish {
  hostId: string;
  resourceId: string;
  range: { first: number; last: number };
  /** Whether nothing on this machine uses the port. */
  isFree(port: number): boolean;
}

/**
 * Takes a port for the life of the resource, in the transaction that makes it.
 * @throws ApiError 503 when none is left.
 */
export async function takePort(tx: Transaction, wish: PortWish): Promise<number> {
  const size = wish.range.last - wish.range.first + 1;
  let port: number | undefined = await candidate(tx, wish, size);
  // Every step leads to a port that no resource has, so that a range full of strangers ends the search in one round.
  for (let step = 0; step < size && port !== undefined; step++) {
    if (wish.isFree(port) && (await claim(tx, wish, port))) return port;
    port = await nextUnclaimed(tx, wish, port);
  }
  throw new ApiError(503, "All ports for instances are in use. PILVI_PORT_RANGE can give more.");
}

/** Lets what was listening on an address be asked whether a port is still to be had there. */
export function canListen(hostname: string, port: number): boolean {
  try {
    Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

/** Going round with a sequence, so that transactions at the same time do not want the same port. */
async function candidate(tx: Transaction, { range }: PortWish, size: number): Promise<number | undefined> {
  const [row] = await tx<{ port: number }[]>`
    select (${range.first}::int + nextval('port_cursor') % ${size}::int)::int as port`;
  return row?.port;
}

async function claim(tx: Transaction, wish: PortWish, port: number): Promise<boolean> {
  const rows = await tx`
    insert into ports (host_id, port, resource_id) values (${wish.hostId}, ${port}, ${wish.resourceId})
    on conflict (host_id, port) do nothing returning port`;
  return rows.length > 0;
}

/** The next port after this one that no resource has, going round at the end of the range; undefined when all are taken. */
async function nextUnclaimed(
  tx: Transaction,
  { hostId, range }: PortWish,
  after: number,
): Promise<number | undefined> {
  const [row] = await tx<{ port: number }[]>`
    select port from generate_series(${range.first}::int, ${range.last}::int) port
    where port not in (select port from ports where host_id = ${hostId})
    order by port <= ${after}, port limit 1`;
  return row?.port;
}
