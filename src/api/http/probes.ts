// Probes of the process for machines: whether it lives, whether it is ready, and its metrics.
import type { Context } from "hono";
import { messageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { authenticate, can } from "../auth/auth.ts";
import { forbidden } from "../jsonapi/errors.ts";
import type { RequestNotes } from "./execute.ts";
import type { Metrics, MetricsView } from "./metrics.ts";
import { isDefaultOrganization } from "../auth/tokens.ts";

/** Checks by name; a check that fails throws. */
export type ReadinessChecks = Record<string, () => unknown>;

/** Answers 200 as long as the process answers at all. */
export function aliveProbe(context: Context<RequestNotes>): Response {
  context.set("route", "/healthz");
  return context.json({ status: "alive" });
}

/** Answers 200 when every check passes within five seconds, or 503 with the names of the failed checks. */
export function readyProbe(db: Database, checks: ReadinessChecks, log: Log) {
  const all: ReadinessChecks = { store: async () => await db`select 1`, ...checks };
  return async (context: Context<RequestNotes>): Promise<Response> => {
    context.set("route", "/readyz");
    const results = await Promise.all(
      Object.entries(all).map(async ([name, check]) => {
        const error = await failureOf(check);
        if (error !== undefined) log.warn({ error, check: name }, "not ready");
        return [name, error === undefined ? "ok" : "failed"] as const;
      }),
    );
    const isReady = results.every(([, result]) => result === "ok");
    const document = { status: isReady ? "ready" : "not ready", checks: Object.fromEntries(results) };
    return context.json(document, isReady ? 200 : 503);
  };
}

/**
 * Answers the metrics that a token may see: those of its organization, or everything for a token of the default
 * organization.
 * @param isOpen whether any client that gets here may see them without ids: engines of all tenants share the loopback.
 */
export function metricsPage(db: Database, metrics: Metrics, log: Log, isOpen: boolean) {
  return async (context: Context<RequestNotes>): Promise<Response> => {
    context.set("route", "/metrics");
    const header = context.req.header("authorization");
    const view = isOpen && header === undefined ? "without ids" : await viewOf(db, log, header);
    context.header("Content-Type", metrics.contentType);
    return context.body(await metrics.text(view));
  };
}

async function viewOf(db: Database, log: Log, header: string | undefined): Promise<MetricsView> {
  const credentials = { authorization: header, sessionSecret: undefined };
  const principal = await authenticate({ db, log, kinds: [] }, credentials);
  if (!can(principal, "metrics:read")) throw forbidden(["metrics:read"]);
  const { organizationId } = principal;
  const isDefault = await isDefaultOrganization(db, organizationId);
  return isDefault ? "all" : { organizationId };
}

const PROBE_TIMEOUT_MS = 5000;

async function failureOf(check: () => unknown): Promise<string | undefined> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), PROBE_TIMEOUT_MS);
  try {
    await Promise.race([check(), promise]);
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    clearTimeout(timer);
  }
}
