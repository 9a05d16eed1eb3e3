// Waits for caches.
import type { CacheDocument, PilviClient } from "../../sdk/index.ts";
import type { Io } from "../io.ts";
import { waitFor, type WaitResult } from "../wait.ts";

/** Waits until a cache can be used. @throws CommandFailure on Ctrl-C. */
export async function waitForAvailable(
  io: Io,
  client: PilviClient,
  document: CacheDocument,
  timeoutSeconds: number,
): Promise<WaitResult<CacheDocument>> {
  const { id, attributes } = document.data;
  return await waitFor(io, {
    name: `the cache ${attributes.name}`,
    until: "available",
    timeoutSeconds,
    document,
    afterwards: `Pilvi goes on with it. Look at it with: pilvi caches show ${id}`,
    get: (options) => client.caches.get(id, options),
  });
}

/** Waits until a cache that is being deleted is gone. @throws CommandFailure on Ctrl-C. */
export async function waitForDeleted(
  io: Io,
  client: PilviClient,
  document: CacheDocument,
  timeoutSeconds: number,
): Promise<WaitResult<CacheDocument>> {
  const { id, attributes } = document.data;
  return await waitFor(io, {
    name: `the cache ${attributes.name}`,
    until: "deleted",
    timeoutSeconds,
    document,
    afterwards: "Pilvi goes on deleting it.",
    get: (options) => client.caches.get(id, options),
  });
}
