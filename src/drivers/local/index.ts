// The driver for one machine: a client of the host process, over its unix socket.
import { PublicError } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type {
  Driver,
  Figures,
  InstanceSpec,
  Observation,
  Offer,
  Series,
  StorageReading,
  WatchEvents,
} from "../driver.ts";
import { readLines } from "./lines.ts";

/** How soon a lost watch is tried again; a host that is being restarted is back within a few of these. */
const RECONNECT_MS = 50;

/** How long the host may take to tell what an engine that runs has measured, which it does from memory. */
const METRICS_TIMEOUT_MS = 10_000;

/**
 * @param socketPath the host's unix socket.
 * @param metricsTimeoutMs for tests.
 */
export function localDriver(socketPath: string, metricsTimeoutMs = METRICS_TIMEOUT_MS): Driver {
  const ask = async (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`http://host${path}`, {
      ...init,
      method,
      unix: socketAddress(socketPath),
      // An engine that recovers takes the time it needs; the caller's signal ends the wait.
      timeout: false,
    }).catch((error: unknown) => {
      throw new PublicError("The host of this machine does not answer.", error);
    });
    if (response.ok) return response;
    const { message } = (await response.json()) as { message: string };
    throw new PublicError(message);
  };
  return {
    offer: async () => (await (await ask("GET", "/offer")).json()) as Offer,
    ensure: async (spec: InstanceSpec, signal) => {
      const body = JSON.stringify(spec);
      return (await (
        await ask("PUT", `/instances/${spec.id}`, { body, signal: signal ?? null })
      ).json()) as Observation;
    },
    suspend: async (id, signal) =>
      (await (
        await ask("POST", `/instances/${id}/suspend`, { signal: signal ?? null })
      ).json()) as Observation,
    remove: async (id) => void (await ask("DELETE", `/instances/${id}`)),
    observe: async (id) => (await (await ask("GET", `/instances/${id}`)).json()) as Observation,
    metrics: async (id, { part, periodSeconds }) => {
      const query = new URLSearchParams({
        period: String(periodSeconds),
        ...(part !== undefined && { part }),
      });
      const signal = AbortSignal.timeout(metricsTimeoutMs);
      return (await (await ask("GET", `/instances/${id}/metrics?${query}`, { signal })).json()) as Series;
    },
    figures: async (id, signal) =>
      (await (await ask("GET", `/instances/${id}/figures`, { signal: signal ?? null })).json()) as Figures,
    storage: async (cursor) => {
      const query = new URLSearchParams(cursor === undefined ? {} : { cursor });
      const signal = AbortSignal.timeout(metricsTimeoutMs);
      return (await (await ask("GET", `/storage?${query}`, { signal })).json()) as StorageReading;
    },
    watch: (events, signal) => void follow(() => ask("GET", "/watch", { signal }), events, signal),
  };
}

async function follow(
  open: () => Promise<Response>,
  events: WatchEvents,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await open();
      if (response.body !== null) {
        for await (const line of readLines(response.body)) tell(events, JSON.parse(line));
      }
    } catch {
      // The host is being restarted or was killed; what changed meanwhile is told anew by the next watch.
    }
    await Bun.sleep(RECONNECT_MS);
  }
}

function tell(events: WatchEvents, message: { observation: Observation } | { synced: string[] }): void {
  if ("observation" in message) events.changed(message.observation);
  else events.synced(message.synced);
}
