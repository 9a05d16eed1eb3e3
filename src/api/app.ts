// The HTTP application: all operations under /api, and the pages and probes beside it.
import { Hono } from "hono";
import type { Log } from "../lib/log.ts";
import type { Clocks } from "../lib/steady-clock.ts";
import type { Database } from "../store/database.ts";
import { Bodies } from "./http/bodies.ts";
import { API_ROOT } from "./operation/address.ts";
import { ConsoleFiles } from "./http/console-files.ts";
import { consoleRoutes } from "./http/console.ts";
import { docsRoutes } from "./http/docs.ts";
import { ApiError, notFound } from "./jsonapi/errors.ts";
import { executorOf, type Caller, type RequestNotes, type Shell } from "./http/execute.ts";
import { errorHandler, frame } from "./http/frame.ts";
import { pruneKeys } from "./operation/idempotency.ts";
import { Metrics } from "./http/metrics.ts";
import { openApiDocument } from "./openapi/openapi.ts";
import type { AnyOperation } from "./operation/operation.ts";
import { aliveProbe, metricsPage, readyProbe, type ReadinessChecks } from "./http/probes.ts";
import { protocolHandler } from "./http/protocols.ts";
import type { Protocol } from "./operation/protocol.ts";
import { RateLimiter } from "./http/rate-limit.ts";
import { pathOf } from "./http/request-url.ts";
import { StatusWaiters } from "./operation/wait.ts";

export interface AppOptions {
  db: Database;
  log: Log;
  operations: AnyOperation[];
  /** Protocols of other programs, such as git's, at addresses of their own. */
  protocols: readonly Protocol[];
  /** The plural nouns of all resource kinds, which abilities and roles are made of. */
  kinds: readonly string[];
  /** Host names under which the API may be asked, beside IP addresses and `localhost`. */
  hostnames: string[];
  /** Whether other machines can reach the API; such clients need a token for the metrics. */
  isPublic: boolean;
  /** Requests a minute and token; 0 means no limit. */
  rateLimitPerMinute: number;
  /** Checks beside the store that must pass for the process to be ready, by name. */
  readiness: ReadinessChecks;
  /** The folder of the web console, which may be filled later. */
  consoleDir: string;
  /** How long an answer with `?wait=` is held at most, in milliseconds; a minute by default. */
  maxWaitMs?: number;
  /** How long the body of a request may take, in milliseconds; a minute by default. */
  bodyDeadlineMs?: number;
  /** The clocks for the rate limit. */
  clocks?: Clocks;
}

export interface App {
  /** For `Bun.serve`, with an `idleTimeout` above 60 s, because `?wait=` holds answers for so long. */
  fetch(request: Request, caller?: Caller): Response | Promise<Response>;
  /** The gauges of the process, for its other parts to add theirs. */
  metrics: Metrics;
  /** Answers held requests and stops background work. */
  close(): Promise<void>;
}

/** Puts the application together and begins to listen to the store. */
export async function createApp(options: AppOptions): Promise<App> {
  const { db, log, operations } = options;
  const metrics = new Metrics();
  const waiters = new StatusWaiters(options.maxWaitMs);
  await waiters.listen(db, log);
  metrics.addGauge("pilvi_held_requests", "Requests that wait for a status.", () => waiters.count);
  const stopPruning = pruneKeys(db, log);
  const closing = new AbortController();
  const limiter = new RateLimiter(options.rateLimitPerMinute, options.clocks);

  const names = options.hostnames.map((name) => name.toLowerCase());
  const app = new Hono<RequestNotes>({ getPath: pathOf });
  app.use("*", frame(log, metrics, names));
  app.onError(errorHandler(log));
  app.notFound(() => {
    throw notFound("address");
  });
  const bodies = new Bodies(options.bodyDeadlineMs);
  const shell = { db, log, limiter, bodies, waiters, closing: closing.signal, kinds: options.kinds };
  addOperations(app, operations, shell);
  for (const protocol of options.protocols) app.all(protocol.path, protocolHandler(protocol, shell));
  app.get("/healthz", aliveProbe);
  app.get("/readyz", readyProbe(db, options.readiness, log));
  app.get("/metrics", metricsPage(db, metrics, log, !options.isPublic));
  app.route(
    "/",
    docsRoutes(() => openApiDocument(operations)),
  );
  app.route("/", consoleRoutes(new ConsoleFiles(options.consoleDir)));
  return {
    fetch: (request, caller = {}) => app.fetch(request, caller),
    metrics,
    close: async () => {
      stopPruning();
      closing.abort();
      await waiters.close();
    },
  };
}

/** Routes every operation; other methods of a known path are refused with a list of the allowed methods. */
function addOperations(app: Hono<RequestNotes>, operations: AnyOperation[], shell: Shell): void {
  const byPath = Map.groupBy(operations, (operation) => operation.path);
  // The router takes the first match, so `/caches/types` has to come before `/caches/:id`.
  for (const path of [...byPath.keys()].sort((a, b) => variables(a) - variables(b))) {
    const methods = new Set<string>();
    for (const operation of byPath.get(path) ?? []) {
      app.on(operation.method, API_ROOT + path, executorOf(operation, shell));
      methods.add(operation.method);
      if (operation.method === "GET") methods.add("HEAD");
    }
    app.all(API_ROOT + path, (context) => {
      context.set("route", path);
      throw new ApiError(405, `This address does not know the method ${context.req.method}.`, {
        headers: { Allow: [...methods].join(", ") },
      });
    });
  }
}

function variables(path: string): number {
  return path.split(":").length;
}
