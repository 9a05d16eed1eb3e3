// Has a running Redis or Valkey write a snapshot of all its keys, in a second process, so that clients are served meanwhile.
import { join } from "node:path";
import type { CacheSpec } from "../../../contracts/instance-spec.ts";
import { codeOf, messageOf, PublicError } from "../../../lib/errors.ts";
import { signatureOf } from "../../../lib/files.ts";
import { unlessAborted } from "../../../lib/unless-aborted.ts";
import type { EngineContext } from "../../engine.ts";
import { asAdmin } from "../admin.ts";
import { fieldsOf } from "../client-list.ts";
import { SNAPSHOT } from "../persistence.ts";

/** Longer than the largest cache takes to write on a slow disk. */
const TIMEOUT_MS = 30 * 60_000;
const POLL_MS = 50;

/** The answers while another process of the engine writes; a snapshot of before would lack the latest keys. */
const IS_WRITING = /in progress|another child|can't bgsave/i;

/** A client may flush the keys at any time, but no other copy gets on while one does so all the time. */
const MAX_SAVES = 5;

/** How long a save may take. */
interface Patience {
  giveUpAt: number;
  signal: AbortSignal;
}

/**
 * Saves all keys.
 * @returns an instant whose earlier writes are all in the snapshot, in ISO 8601.
 * @throws PublicError when the engine cannot save, or the reason of the signal as soon as that is aborted.
 */
export async function save(context: EngineContext<CacheSpec>, signal: AbortSignal): Promise<string> {
  const snapshot = join(context.paths.dataDir, SNAPSHOT);
  const patience = { giveUpAt: performance.now() + TIMEOUT_MS, signal };
  try {
    return await asAdmin(context, (client) => unlessAborted(saveWith(client, snapshot, patience), signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PublicError) throw error;
    throw new PublicError("The cache did not answer while it was saved for a backup.", error);
  }
}

async function saveWith(client: Bun.RedisClient, snapshot: string, patience: Patience): Promise<string> {
  for (let count = 0; count < MAX_SAVES; count += 1) {
    const former = signatureOf(snapshot);
    const savedAt = await beginSave(client, patience);
    await untilSaved(client, patience);
    // A client that flushes all keys ends a save, and the engine calls that no failure.
    if (![former, ""].includes(signatureOf(snapshot))) return savedAt;
  }
  throw new PublicError("Clients flush the cache all the time, so it could not be saved.");
}

/** Begins a save of its own, as soon as no other process of the engine writes. */
async function beginSave(client: Bun.RedisClient, { giveUpAt, signal }: Patience): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const at = new Date().toISOString();
    const refusal = await refusalOf(client.send("BGSAVE", []));
    if (refusal === null) return at;
    if (!IS_WRITING.test(refusal.message)) throw notBegun(refusal);
    if (performance.now() >= giveUpAt)
      throw new PublicError("The cache writes something else all the time, so it could not be saved.");
    await Bun.sleep(POLL_MS);
  }
}

/** Why the engine refuses a command; null when it does not. @throws when it does not answer. */
async function refusalOf(answer: Promise<unknown>): Promise<Error | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (codeOf(error) !== "ERR_REDIS_SERVER_ERROR") throw error;
    return new Error(messageOf(error));
  }
}

async function untilSaved(client: Bun.RedisClient, { giveUpAt, signal }: Patience): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const info = fieldsOf(String(await client.send("INFO", ["persistence"])), "\r\n", ":");
    if (info.rdb_bgsave_in_progress === "0") {
      if (info.rdb_last_bgsave_status === "ok") return;
      throw new PublicError(
        "The cache could not be saved: the disk is full, or there is too little memory for a second process.",
      );
    }
    if (performance.now() >= giveUpAt) throw new PublicError("The cache was not saved in time.");
    await Bun.sleep(POLL_MS);
  }
}

/** The engine gives no reason for a process that it could not make; the kernel's reason is in its log. */
function notBegun(cause: Error): PublicError {
  return new PublicError(
    "The cache could not begin to save: there is too little memory for a second process.",
    cause,
  );
}
