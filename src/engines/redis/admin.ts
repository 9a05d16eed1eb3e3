// What the host asks of a running Redis or Valkey: whether it answers, how it is used, and which activity forbids a
// stop.
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import { isOfServingCache } from "../../lib/cache-answers.ts";
import { messageOf } from "../../lib/errors.ts";
import { presentable } from "../../lib/presentable.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { PersistenceError } from "../engine-errors.ts";
import type { EngineContext, EngineReading, Usage } from "../engine.ts";
import { eachClient, fieldsOf, type Client } from "./client-list.ts";
import { ADMIN_NAME, passwordsOf, readUsersFile, userRules, usersFile } from "./config.ts";

/**
 * Activities during which a client must stay connected, in the order of the report. A blocking command comes first,
 * because its client waits for the answer.
 */
const TIES: [does: string, isSo: (client: Client) => boolean][] = [
  ["waits in a blocking command", ({ flags = "" }) => flags.includes("b")],
  [
    "is subscribed to channels",
    (client) => ["sub", "psub", "ssub"].some((field) => isPositive(client[field])),
  ],
  ["is in the middle of a transaction", ({ flags = "" }) => flags.includes("x")],
  ["watches keys", (client) => isPositive(client.watch)],
  ["monitors the cache", ({ flags = "" }) => flags.includes("O")],
  ["replicates the cache", ({ flags = "" }) => /[MS]/.test(flags)],
  ["tracks keys that it caches itself", ({ flags = "" }) => flags.includes("t")],
  ["is sending a command", (client) => isPositive(client.qbuf)],
  ["has not read all its answers", (client) => isPositive(client.obl) || isPositive(client.oll)],
];

/** Background writes that a stop would cut short, by the field of `INFO persistence` that reports them. */
const WRITES: [field: string, reason: string][] = [
  ["loading", "The cache still loads its data."],
  ["rdb_bgsave_in_progress", "The cache saves its data."],
  ["aof_rewrite_in_progress", "The cache rewrites its append-only file."],
  ["aof_rewrite_scheduled", "The cache is about to rewrite its append-only file."],
];

/** The connections of the host to an engine since the last question for its usage. */
const ownConnections = new WeakMap<object, number>();

/** An engine that answers no login for so long is silent. */
const ANSWER_TIMEOUT_MS = 10_000;

/** The sections of `INFO` for a reading. Other sections have texts that customers can make as long as they like. */
const READ_SECTIONS = ["clients", "memory", "stats", "keyspace"];

/** The answer of an engine that has all the clients it takes. */
const FULL = "max number of clients reached";

/** Whether the administrator gets an answer other than that the engine loads its data. */
export async function isReady(context: EngineContext<CacheSpec>): Promise<boolean> {
  try {
    return (await asAdmin(context, (client) => client.ping())) === "PONG";
  } catch (error) {
    // Refused, still loading, or gone: in each case not ready.
    return isOfServingCache(error) || messageOf(error).includes(FULL);
  }
}

/**
 * Gives the customers of a running engine the passwords and the rights of the spec: their passwords may have changed,
 * or an earlier Pilvi may have started the engine with other rights. The connections of a user end when none of its
 * former passwords is valid any more, as after a rotation without a grace. After a grace they all stay, since the engine
 * does not know which password a connection has proved.
 * @throws when the engine does not answer.
 */
export async function setUsers(context: EngineContext<CacheSpec>): Promise<void> {
  const [former, users] = [readUsersFile(context), usersFile(context)];
  if (former === users) return;
  const { spec, installed } = context;
  await asAdmin(context, async (client) => {
    for (const user of spec.users) {
      await client.send("ACL", ["SETUSER", user.name, "resetpass", ...userRules(user, installed)]);
      if (passwordsOf(user).some((password) => former.includes(password))) continue;
      await client.send("CLIENT", ["KILL", "USER", user.name]);
    }
  });
}

/** See `Engine.blockingActivity`. @throws when the engine does not answer. */
export async function blockingActivity(context: EngineContext<CacheSpec>): Promise<string | null> {
  const info = await infoOf(context, "persistence");
  // An engine with a log would end all the same, without a word. An engine with snapshots refuses to end, so the result
  // of its last snapshot does not matter.
  if (info.aof_last_write_status === "err")
    throw new PersistenceError("The cache cannot write its keys to the disk.");
  let reason: string | null = null;
  noteConnection(context);
  await eachClient(context, (client) => {
    const tie = TIES.find(([, isSo]) => isSo(client));
    if (tie !== undefined) reason = `${nameOf(client)} ${tie[0]}.`;
    return tie !== undefined;
  });
  return reason ?? WRITES.find(([field]) => info[field] === "1")?.[1] ?? null;
}

/** See `Engine.usage`. @throws when the engine does not answer. */
export async function usage(context: EngineContext<CacheSpec>): Promise<Usage> {
  let idleSeconds: number | null = null;
  noteConnection(context);
  await eachClient(context, ({ idle }) => {
    idleSeconds = Math.min(idleSeconds ?? Infinity, Number(idle));
    return false;
  });
  const info = await infoOf(context, "stats");
  const own = ownConnections.get(context) ?? 0;
  ownConnections.delete(context);
  return { idleSeconds, connections: Number(info.total_connections_received), ownConnections: own };
}

/** See `Engine.reading`. @throws when the engine does not answer. */
export async function reading(context: EngineContext<CacheSpec>): Promise<EngineReading> {
  const info = await infoOf(context, ...READ_SECTIONS);
  const number = (field: string) => Number(info[field] ?? 0);
  return {
    isPerProcess: true,
    counters: {
      hits: number("keyspace_hits"),
      misses: number("keyspace_misses"),
      evictedKeys: number("evicted_keys"),
      expiredKeys: number("expired_keys"),
      commands: number("total_commands_processed"),
      networkInBytes: number("total_net_input_bytes"),
      networkOutBytes: number("total_net_output_bytes"),
    },
    gauges: {
      connections: Math.max(0, number("connected_clients") - 1),
      blockedConnections: number("blocked_clients"),
      dataBytes: number("used_memory"),
      keys: keysIn(info),
    },
  };
}

/** The keys of all databases, of lines such as `db0:keys=3,expires=1,avg_ttl=0`. */
export function keysIn(info: Record<string, string>): number {
  const lines = Object.entries(info).filter(([field]) => /^db\d+$/.test(field));
  return lines.reduce((sum, [, line]) => sum + Number(/keys=(\d+)/.exec(line)?.[1] ?? 0), 0);
}

function noteConnection(context: EngineContext<CacheSpec>): void {
  ownConnections.set(context, (ownConnections.get(context) ?? 0) + 1);
}

async function infoOf(
  context: EngineContext<CacheSpec>,
  ...sections: string[]
): Promise<Record<string, string>> {
  return await asAdmin(context, async (client) => {
    // Engines before version 7 take one section at a time.
    const texts = await Promise.all(sections.map((section) => client.send("INFO", [section])));
    return fieldsOf(texts.join("\r\n"), "\r\n", ":");
  });
}

/** A client at the unix socket (U) has no address of its own: the engine names the socket instead. */
function nameOf({ user, name, addr = "", flags = "" }: Client): string {
  const from = flags.includes("U") ? "" : ` at ${addr}`;
  const client = name === undefined || name === "" ? "" : `"${presentable(name)}" `;
  return `The client ${client}of the user "${presentable(user ?? "")}"${from}`;
}

function isPositive(field: string | undefined): boolean {
  return Number(field ?? 0) > 0;
}

/** Does the work with a session of the administrator. @throws when the engine does not answer. */
export async function asAdmin<T>(
  context: EngineContext<CacheSpec>,
  work: (client: Bun.RedisClient) => Promise<T>,
): Promise<T> {
  const { paths, adminPassword } = context;
  noteConnection(context);
  // Bun's client takes no long path and no path with characters that a URL escapes; this address has neither.
  return await withSocket(paths.socket, async (address) => {
    const client = new Bun.RedisClient(`redis+unix://${ADMIN_NAME}:${adminPassword}@localhost${address}`, {
      autoReconnect: false,
      connectionTimeout: ANSWER_TIMEOUT_MS,
    });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  });
}
