// What the host tells a running realtime server and asks it, over its unix socket.
import { z } from "zod";
import type { Figures, MetricsQuery, RealtimeSpec, Series } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { EngineContext } from "../engine.ts";

type Context = EngineContext<RealtimeSpec>;

/** The server answers from memory; one that takes so long is busy beyond use. */
const TIMEOUT_MS = 5_000;

const series = z.record(z.string(), z.array(z.object({ at: z.string(), value: z.number() })));

const counted = z.record(z.string(), z.unknown());
const stats = counted.and(z.object({ applications: z.array(counted.and(z.object({ id: z.string() }))) }));

/** Has the server take over applications, limits, origins and secrets; the first time, it begins to listen for clients. */
export async function applySpec(context: Context): Promise<void> {
  const { spec, limits } = context;
  const { maxConnections = spec.maxConnections } = limits;
  const { applications } = spec;
  await ask(context, "/config", { method: "PUT", body: JSON.stringify({ maxConnections, applications }) });
}

/** Has the server send all clients away as those of applications that are no longer there, which none comes back to. */
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

/** Connections and messages over time, of the cluster or of one application. */
export async function metrics(context: Context, { part, periodSeconds }: MetricsQuery): Promise<Series> {
  const query = new URLSearchParams({ id: part ?? context.spec.id, period: String(periodSeconds) });
  return series.parse(await (await ask(context, `/metrics?${query}`)).json());
}

/** What the server counts at the moment. */
export async function figures(context: Context): Promise<Figures> {
  const { applications, ...whole } = stats.parse(await (await ask(context, "/stats")).json());
  return {
    whole: numbersIn(whole),
    parts: applications.map(({ id, ...own }) => ({ id, figures: numbersIn(own) })),
  };
}

/** Counters of counters, such as `webhooks.failed`, are named by their path. */
function numbersIn(values: Record<string, unknown>, prefix = ""): Record<string, number> {
  const named = Object.entries(values).flatMap(([name, value]): [string, number][] => {
    if (typeof value === "number") return [[prefix + name, value]];
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(numbersIn(value as Record<string, unknown>, `${prefix}${name}.`));
  });
  return Object.fromEntries(named);
}

async function ask({ paths }: Context, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`http://localhost${path}`, {
    ...init,
    unix: socketAddress(paths.socket),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new PublicError("The realtime server does not answer.", error);
  });
  if (response.ok) return response;
  throw new PublicError(await messageIn(response));
}

async function messageIn(response: Response): Promise<string> {
  const parsed = z.object({ message: z.string() }).safeParse(await response.json().catch(() => null));
  return parsed.success ? parsed.data.message : "The realtime server refused an order; its log says why.";
}
