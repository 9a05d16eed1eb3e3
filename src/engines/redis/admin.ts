// What the host asks of a running Redis or Valkey: whether it answers, who uses it, and what it must not be stopped in.
import type { CacheSpec } from "../../drivers/driver.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { CannotSave, type EngineContext, type Usage } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";

/** A line of `CLIENT LIST`, by the names of its fields. */
type Client = Record<string, string>;

/** What keeps a client from being parted, in the order in which it is told; what a client waits for comes first. */
const TIES: [does: string, isSo: (client: Client) => boolean][] = [
  ["waits in a blocking command", ({ flags = "" }) => flags.includes("b")],
  [
    "is subscribed to channels",
    (client) => ["sub", "psub", "ssub"].some((field) => isPositive(client[field])),
  ],
  ["is in the middle of a transaction", ({ multi = "-1" }) => multi !== "-1"],
  ["watches keys", (client) => isPositive(client.watch)],
  ["monitors the cache", ({ flags = "" }) => flags.includes("O")],
  ["replicates the cache", ({ flags = "" }) => /[MS]/.test(flags)],
  ["tracks keys that it caches itself", ({ flags = "" }) => flags.includes("t")],
  ["is sending a command", (client) => isPositive(client.qbuf)],
  ["has not read all its answers", (client) => isPositive(client.obl) || isPositive(client.oll)],
];

/** What is written in the background and would be cut short, by the field of `INFO persistence` that tells of it. */
const WRITES: [field: string, reason: string][] = [
  ["loading", "The cache still loads its data."],
  ["rdb_bgsave_in_progress", "The cache saves its data."],
  ["aof_rewrite_in_progress", "The cache rewrites its append-only file."],
  ["aof_rewrite_scheduled", "The cache is about to rewrite its append-only file."],
];

/** Whether the administrator can log in and gets an answer. */
export async function isReady(context: EngineContext<CacheSpec>): Promise<boolean> {
  try {
    return (await asAdmin(context, (client) => client.ping())) === "PONG";
  } catch {
    // Refused, still loading, or gone: in each case not ready.
    return false;
  }
}

/** See `Engine.busyReason`. @throws when it does not answer. */
export async function busyReason(context: EngineContext<CacheSpec>): Promise<string | null> {
  return await asAdmin(context, async (client) => {
    const info = fieldsOf(await textOf(client, "INFO", ["persistence"]), "\r\n", ":");
    // It would end all the same, without a word. One that keeps snapshots refuses to, so how its last one went is no matter.
    if (info.aof_last_write_status === "err")
      throw new CannotSave("The cache cannot write its keys to the disk.");
    for (const each of await clientsOf(client)) {
      const tie = TIES.find(([, isSo]) => isSo(each));
      if (tie !== undefined) return `${nameOf(each)} ${tie[0]}.`;
    }
    return WRITES.find(([field]) => info[field] === "1")?.[1] ?? null;
  });
}

/** See `Engine.usage`. @throws when it does not answer. */
export async function usage(context: EngineContext<CacheSpec>): Promise<Usage> {
  return await asAdmin(context, async (client) => {
    const idle = (await clientsOf(client)).map((each) => Number(each.idle));
    const info = fieldsOf(await textOf(client, "INFO", ["stats"]), "\r\n", ":");
    return {
      idleSeconds: idle.length === 0 ? null : Math.min(...idle),
      connections: Number(info.total_connections_received),
    };
  });
}

/** All clients but the host itself. */
async function clientsOf(client: Bun.RedisClient): Promise<Client[]> {
  const lines = (await textOf(client, "CLIENT", ["LIST"])).trim().split("\n");
  return lines.map((line) => fieldsOf(line, " ", "=")).filter(({ user }) => user !== ADMIN_NAME);
}

async function textOf(client: Bun.RedisClient, command: string, args: string[]): Promise<string> {
  return String(await client.send(command, args));
}

function fieldsOf(text: string, between: string, sign: string): Record<string, string> {
  const pairs = text.split(between).map((pair): [string, string] => {
    const end = pair.indexOf(sign);
    return [pair.slice(0, Math.max(0, end)), pair.slice(end + 1)];
  });
  return Object.fromEntries(pairs);
}

/** Who comes through the unix socket has no address of its own. */
function nameOf({ user, name, addr = "" }: Client): string {
  const from = addr.startsWith("/") ? "" : ` at ${addr}`;
  return `The client ${name === undefined || name === "" ? "" : `"${name}" `}of the user "${user}"${from}`;
}

function isPositive(field: string | undefined): boolean {
  return Number(field ?? 0) > 0;
}

async function asAdmin<T>(
  { paths, adminPassword }: EngineContext<CacheSpec>,
  work: (client: Bun.RedisClient) => Promise<T>,
): Promise<T> {
  // Bun's client takes no path with a character that a URL would escape, nor a long one; this one has neither.
  return await withSocket(paths.socket, async (address) => {
    const client = new Bun.RedisClient(`redis+unix://${ADMIN_NAME}:${adminPassword}@localhost${address}`, {
      autoReconnect: false,
      connectionTimeout: 1_000,
    });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  });
}
