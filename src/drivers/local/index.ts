// The driver for one machine: a client of the host process, over its unix socket.
import type * as z from "zod/mini";
import {
  endAnswerSchema,
  figuresSchema,
  freePortsSchema,
  offerSchema,
  refusalSchema,
  storageReadingSchema,
  watchLineSchema,
  type WatchLine,
} from "../../contracts/host-answers.ts";
import { journalAnswerSchema } from "../../contracts/journal.ts";
import { observationSchema } from "../../contracts/observation.ts";
import { readingsAnswerSchema } from "../../contracts/readings.ts";
import { debugEventSchema, type DebugEvent } from "../../contracts/realtime-debug.ts";
import { ContractError, readAs, readJsonAs } from "../../contracts/read.ts";
import { checkPath, hostPath, MISMATCH_RETRY_MS } from "../../contracts/versions.ts";
import { BusyError, PublicError, UnreachableError } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { Driver, WatchEvents } from "../driver.ts";
import { backups } from "./backups.ts";
import { edgeRoutes } from "./edge.ts";
import { builds } from "./builds.ts";
import { inspections } from "./inspection.ts";
import { logs } from "./logs.ts";
import { openTerminal } from "./terminals.ts";
import { readLines } from "../../contracts/lines.ts";

/** How soon a lost watch is tried again; a restarted host is back within a few of these. */
const RECONNECT_MS = 50;

/** How long the host may take to return what a running engine has measured, which it does from memory. */
const METRICS_TIMEOUT_MS = 10_000;

/** Longer than any report, of which each character may be escaped. The host passes reports on unread. */
const MAX_DEBUG_LINE_LENGTH = 32 * 1024;

/** The status of a host that has no room now. */
const BUSY = 503;

const ANSWER = "The answer of the host";

/** Options of the driver. */
interface LocalDriverOptions {
  /** Receives, once, the error of a host whose watch cannot be understood. */
  log?: { error(said: object, message: string): void };
  /** For tests. */
  metricsTimeoutMs?: number;
}

/** @param socketPath the host's unix socket. */
export function localDriver(
  socketPath: string,
  { log, metricsTimeoutMs = METRICS_TIMEOUT_MS }: LocalDriverOptions = {},
): Driver {
  const ask = async (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`http://host${hostPath(path)}`, {
      ...init,
      method,
      unix: socketAddress(socketPath),
      // An engine that recovers takes its time; the caller's signal ends the wait.
      timeout: false,
    }).catch((error: unknown) => {
      // The body broke off by itself, with a reason that the caller may read; the host has nothing to do with it.
      if (error instanceof PublicError) throw error;
      throw unreachable(error);
    });
    if (response.ok) return response;
    throw await refusalOf(response);
  };
  /** Asks for an answer of this shape. */
  const askFor = async <T>(
    schema: z.core.$ZodType<T>,
    method: string,
    path: string,
    init: RequestInit = {},
  ): Promise<T> => {
    return readAs(schema, await bodyOf(await ask(method, path, init)), ANSWER);
  };
  const timely = () => ({ signal: AbortSignal.timeout(metricsTimeoutMs) });
  /** Asks for what is new since an answer with this cursor. */
  const askAfter = <T>(schema: z.core.$ZodType<T>, path: string, cursor?: string): Promise<T> => {
    const query = new URLSearchParams(cursor === undefined ? {} : { cursor });
    return askFor(schema, "GET", `${path}?${query}`, timely());
  };
  return {
    offer: () => askFor(offerSchema, "GET", "/offer"),
    ensure: (spec, signal) => {
      const body = JSON.stringify(spec);
      return askFor(observationSchema, "PUT", `/instances/${spec.id}`, { body, signal: signal ?? null });
    },
    suspend: (id, signal) =>
      askFor(observationSchema, "POST", `/instances/${id}/suspend`, { signal: signal ?? null }),
    end: async (id) => (await askFor(endAnswerSchema, "POST", `/instances/${id}/end`)).isRunning,
    remove: async (id, signal) => void (await ask("DELETE", `/instances/${id}`, { signal: signal ?? null })),
    observe: (id) => askFor(observationSchema, "GET", `/instances/${id}`),
    figures: (id, signal) =>
      askFor(figuresSchema, "GET", `/instances/${id}/figures`, { signal: signal ?? null }),
    debug: (id, part, signal) =>
      debugEvents(() => ask("GET", `/instances/${id}/debug?${new URLSearchParams({ part })}`, { signal })),
    ...logs({ ask, askFor }),
    ...inspections({ ask, askFor }),
    ...backups({ ask, askFor }),
    ...edgeRoutes({ ask, askFor }),
    ...builds({ ask, askFor }),
    openTerminal: (id, size, events) => openTerminal(socketPath, { id, size }, events),
    storage: (cursor) => askAfter(storageReadingSchema, "/storage", cursor),
    readings: (cursor) => askAfter(readingsAnswerSchema, "/readings", cursor),
    freePorts: (ports, signal) =>
      askFor(freePortsSchema, "GET", `/free-ports?ports=${ports.join(",")}`, { signal: signal ?? null }),
    journal: async (after, signal) =>
      (await askFor(journalAnswerSchema, "GET", `/journal?after=${after}`, { signal })).records,
    watch: (events, signal) => void follow(() => ask("GET", "/watch", { signal }), events, signal, log),
  };
}

function unreachable(cause: unknown): UnreachableError {
  return new UnreachableError("The host of this machine does not answer.", cause);
}

/** The JSON of an answer. @throws UnreachableError when the host ends in the middle of it. */
async function bodyOf(response: Response): Promise<unknown> {
  return await response.json().catch((error: unknown) => {
    throw unreachable(error);
  });
}

/** The error that a host answers with. @throws VersionMismatch when it is of another version. */
async function refusalOf(response: Response): Promise<PublicError> {
  checkPath(response, "The host of this machine");
  const { message } = readAs(refusalSchema, await bodyOf(response), ANSWER);
  return response.status === BUSY ? new BusyError(message) : new PublicError(message);
}

/** @throws PublicError when the host cannot be reached or refuses. */
async function* debugEvents(open: () => Promise<Response>): AsyncGenerator<DebugEvent> {
  const { body } = await open();
  if (body === null) return;
  for await (const line of readLines(body, MAX_DEBUG_LINE_LENGTH))
    yield readJsonAs(debugEventSchema, line, ANSWER);
}

async function follow(
  open: () => Promise<Response>,
  events: WatchEvents,
  signal: AbortSignal,
  log: LocalDriverOptions["log"],
): Promise<void> {
  let complaint = "";
  while (!signal.aborted) {
    try {
      const response = await open();
      if (response.body === null) continue;
      for await (const line of readLines(response.body)) {
        dispatch(events, readJsonAs(watchLineSchema, line, ANSWER));
        complaint = "";
      }
    } catch (error) {
      // The host was restarted or killed, and the next watch reports all changes since; or the host is of another
      // version.
      if (error instanceof ContractError) {
        if (error.message !== complaint) log?.error({ error }, "the host cannot be understood");
        complaint = error.message;
        await Bun.sleep(MISMATCH_RETRY_MS);
      }
    }
    await Bun.sleep(RECONNECT_MS);
  }
}

function dispatch(events: WatchEvents, line: WatchLine): void {
  switch (line.type) {
    case "observation":
      return events.changed(line.observation);
    case "synced":
      return events.synced(line.ids);
  }
}
