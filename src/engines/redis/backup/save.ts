// Has a running Redis or Valkey write a snapshot of all its keys, in a second process, so that clients are served meanwhile.
import { join } from "node:path";
import type { CacheSpec } from "../../../contracts/instance-spec.ts";
import { codeOf, messageOf, PublicError } from "../../../lib/errors.ts";
import { signatureOf } from "../../../lib/files.ts";
import type { EngineContext } from "../../engine.ts";
import { asAdmin } from "../admin.ts";
import { fieldsOf } from "../client-list.ts";
import { SNAPSHOT } from "../persistence.ts";

/** Longer than the largest cache takes to write on a slow disk. */
const TIMEOUT_MS = 30 * 60_000;
const POLL_MS = 50;

/** The answers while another process of the engine writes; a snapshot of before would lack the latest keys. */
const IS_WRITING = /in progress|another child|can't bgsave/i;

/**
 * Saves all keys.
 * @returns an instant whose earlier writes are all in the snapshot, in ISO 8601.
 * @throws PublicError when the engine cannot save.
 */
export async function save(context: EngineContext<CacheSpec>): Promise<string> {
  const snapshot = join(context.paths.dataDir, SNAPSHOT);
  const giveUpAt = performance.now() + TIMEOUT_MS;
  try {
    return await asAdmin(context, async (client) => {
      for (;;) {
        const former = signatureOf(snapshot);
        const savedAt = await beginSave(client, giveUpAt);
        await untilSaved(client, giveUpAt);
        // A client that flushes all keys ends a save, and the engine calls that no failure.
        if (![former, ""].includes(signatureOf(snapshot))) return savedAt;
      }
    });
  } catch (error) {
    if (error instanceof PublicError) throw error;
    throw new PublicError("The cache did not answer while it was saved for a backup.", error);
  }
}

/** Begins a save of its own, as soon as no other process of the engine writes. */
async function beginSave(client: Bun.RedisClient, giveUpAt: number): Promise<string> {
  for (;;) {
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

async function untilSaved(client: Bun.RedisClient, giveUpAt: number): Promise<void> {
  for (;;) {
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
