// Loads restored data into an engine that no client can reach, and counts its keys.
import { join, relative } from "node:path";
import { PublicError } from "../../../lib/errors.ts";
import { readForeign } from "../../../lib/foreign-file.ts";
import { withSocket } from "../../../lib/unix-socket.ts";
import { RestoreFault, type RestoreContext } from "../../backup.ts";
import { commandOf } from "../../installed-engine.ts";
import { EngineEnded, withEngine } from "../../throw-away.ts";
import { fieldsOf } from "../client-list.ts";
import { keysIn } from "../admin.ts";
import { dataFiles, SNAPSHOT } from "../persistence.ts";

const SOCKET = "engine.sock";
const LOG = "engine.log";
const MAX_LOG_BYTES = 8_192;

/** The engine's words for data that it cannot read. */
const IS_DAMAGED =
  /Bad file format|Wrong signature|Unexpected EOF|Short read|Internal error in RDB|CRC|Can't handle RDB|doesn't exist|AOF/i;

/**
 * Loads all keys.
 * @returns their number.
 * @throws RestoreFault when the data cannot be read; PublicError when the engine ends for another reason.
 */
export async function loadKeys(context: RestoreContext): Promise<number> {
  const socket = join(context.workDir, SOCKET);
  const engine = {
    argv: [...commandOf(context.installed), ...settings(context)],
    isReady: () => isLoaded(context, socket),
    stopSignal: "SIGTERM" as const,
  };
  try {
    return await withEngine(context, engine, async () => keysIn(await infoAt(socket, "keyspace")));
  } catch (error) {
    if (!(error instanceof EngineEnded)) throw error;
    const said = readForeign(join(context.workDir, LOG), MAX_LOG_BYTES, "end") || error.end.said;
    if (IS_DAMAGED.test(said) && error.end.code !== null)
      throw new RestoreFault("The backup is damaged: its keys cannot be read.", new Error(said));
    throw new PublicError("The engine that checks the backup ended before it was done.", new Error(said));
  }
}

/** It neither listens on the network nor changes its files by itself. */
function settings({ dataDir, workDir }: RestoreContext): string[] {
  const hasLog = !dataFiles({ dataDir }).includes(SNAPSHOT);
  return Object.entries({
    dir: dataDir,
    port: "0",
    // Relative to the data folder, since the path of a socket must be short.
    unixsocket: relative(dataDir, join(workDir, SOCKET)),
    unixsocketperm: "700",
    logfile: join(workDir, LOG),
    appendonly: hasLog ? "yes" : "no",
    save: "",
    "auto-aof-rewrite-percentage": "0",
    daemonize: "no",
  }).flatMap(([name, value]) => [`--${name}`, value]);
}

async function isLoaded({ progress }: RestoreContext, socket: string): Promise<boolean> {
  const info = await infoAt(socket, "persistence");
  if (info.loading === "0") return true;
  progress(Math.min(1, Number(info.loading_loaded_perc ?? 0) / 100));
  return false;
}

async function infoAt(socket: string, section: string): Promise<Record<string, string>> {
  return await withSocket(socket, async (address) => {
    const client = new Bun.RedisClient(`redis+unix://localhost${address}`, {
      autoReconnect: false,
      connectionTimeout: 1_000,
    });
    try {
      return fieldsOf(String(await client.send("INFO", [section])), "\r\n", ":");
    } finally {
      client.close();
    }
  });
}
