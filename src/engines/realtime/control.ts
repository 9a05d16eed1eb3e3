// The host's orders and questions to a running realtime server, over its unix socket.
import * as z from "zod/mini";
import type { Figures } from "../../contracts/host-answers.ts";
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import { refusalSchema } from "../../contracts/host-answers.ts";
import { readAs } from "../../contracts/read.ts";
import { realtimeStatsSchema, type ClusterConfig, type RealtimeStats } from "../../contracts/realtime.ts";
import { checkPath, realtimePath } from "../../contracts/versions.ts";
import { PublicError } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { EngineContext, EngineReading } from "../engine.ts";

type Context = EngineContext<RealtimeSpec>;

/** The server answers from memory; a server that takes longer is too busy to be of use. */
const TIMEOUT_MS = 5_000;

/** The signal ends a question; a watched application may be silent. */
const NO_TIMEOUT = { timeout: false } as const;

const ANSWER = "The answer of the realtime server";

/** Sends the server its applications, limits, origins and secrets; the first time, it begins to listen for clients. */
export async function applySpec(context: Context): Promise<void> {
  const { spec, limits } = context;
  const { maxConnections = spec.maxConnections } = limits;
  const { applications } = spec;
  const config: ClusterConfig = { maxConnections, applications };
  await ask(context, "/config", { method: "PUT", body: JSON.stringify(config) });
}

/** Has the server send all clients away as if their applications were deleted, so that no client reconnects. */
export async function dismiss({ spec, ...context }: Context): Promise<void> {
  await applySpec({ ...context, spec: { ...spec, applications: [] } });
}

/** Whether the server answers. */
export async function isReady(context: Context): Promise<boolean> {
  try {
    await ask(context, "/health");
    return true;
  } catch {
    // Starting, ending or gone: in each case not ready.
    return false;
  }
}

/** The counters of the server at this moment. */
export async function figures(context: Context): Promise<Figures> {
  const { applications, ...whole } = await statsOf(context);
  return {
    whole: flat(whole),
    parts: applications.map(({ id, ...own }) => ({ id, figures: flat(own) })),
  };
}

/** See `Engine.reading`; the parts are the applications. @throws when the server does not answer. */
export async function reading(context: Context): Promise<EngineReading> {
  const { applications, ...whole } = await statsOf(context);
  return {
    isPerProcess: false,
    isSinceCreation: true,
    ...countsOf(whole),
    parts: applications.map((application) => partOf(application)),
  };
}

function partOf({ id, ...own }: RealtimeStats["applications"][number]) {
  return { id, ...countsOf(own) };
}

async function statsOf(context: Context): Promise<RealtimeStats> {
  return readAs(realtimeStatsSchema, await (await ask(context, "/stats")).json(), ANSWER);
}

/** The figures of a server or of an application. */
type Counts = Omit<RealtimeStats, "applications">;

function flat({ webhooks, ...own }: Counts): Record<string, number> {
  return { ...own, ...prefixed("webhooks.", webhooks) };
}

function countsOf({ connections, messagesReceived, messagesSent, apiRequests, webhooks }: Counts) {
  const { delivered: webhooksDelivered, failed: webhooksFailed, dropped: webhooksDropped } = webhooks;
  return {
    counters: {
      messagesReceived,
      messagesSent,
      apiRequests,
      webhooksDelivered,
      webhooksFailed,
      webhooksDropped,
    },
    gauges: { connections },
  };
}

/** The reports of an application, passed on as they come. */
export async function debug(
  context: Context,
  part: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const query = new URLSearchParams({ id: part });
  const { body } = await ask(context, `/debug?${query}`, { signal });
  if (body === null) throw new PublicError("The realtime server does not report anything.");
  return body;
}

function prefixed(prefix: string, values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

async function ask({ paths }: Context, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`http://localhost${realtimePath(path)}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...init,
    unix: socketAddress(paths.socket),
    ...NO_TIMEOUT,
  }).catch((error: unknown) => {
    throw new PublicError("The realtime server does not answer.", error);
  });
  if (response.ok) return response;
  checkPath(response, "The realtime server");
  throw new PublicError(await messageIn(response));
}

async function messageIn(response: Response): Promise<string> {
  const parsed = z.safeParse(refusalSchema, await response.json().catch(() => null));
  return parsed.success ? parsed.data.message : "The realtime server refused an order; its log says why.";
}
