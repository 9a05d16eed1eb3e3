// The host's unix socket: HTTP with JSON, for the control plane of the same machine only.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { edgeProbeSchema } from "../contracts/edge-probe.ts";
import { edgeRouteSchema } from "../contracts/edge-route.ts";
import { instanceSpecSchema } from "../contracts/instance-spec.ts";
import { safeIdSchema } from "../contracts/safe-id.ts";
import { backupIdSchema, restoreTargetSchema, retentionSchema } from "../contracts/keeper.ts";
import { logQuerySchema } from "../contracts/logs.ts";
import { cancelScopeSchema, statementsRequestSchema } from "../contracts/queries.ts";
import { readAs } from "../contracts/read.ts";
import { routeWakeSchema, wokenFor } from "../contracts/wake-reasons.ts";
import { hostPath, refuseOtherVersions } from "../contracts/versions.ts";
import { BusyError, PublicError, publicMessageOf } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import { socketAddress } from "../lib/unix-socket.ts";
import { canSwitchUsers, CONTROL_ACCOUNT } from "./os/accounts.ts";
import { buildRoutes } from "./builds/routes.ts";
import { terminalRoutes, terminalSockets } from "./builds/terminal-routes.ts";
import type { Host } from "./host.ts";
import { watchResponse } from "./watch.ts";

/**
 * The interval at which a watcher gets again what it may have taken too early: the observations of instances that are
 * not at rest, and the latest changes.
 */
const REPEAT_MS = 30_000;

/** The time an answer is held while there are no records. */
const JOURNAL_WAIT_MS = 20_000;

/** Engines take their time, and a watch has no end. Bun applies this to unix sockets, although its types omit it. */
const NO_IDLE_TIMEOUT: object = { idleTimeout: 0 };

/** The most bytes of a source; its spec bounds it further. */
const MAX_SOURCE_BYTES = 16 * 1024 ** 3;

type Stop = () => Promise<void>;

/** Begins to serve; the returned function ends that. */
export function serveHost(host: Host, socketPath: string, log: Log, repeatMs = REPEAT_MS): Stop {
  mkdirSync(dirname(socketPath), { recursive: true, mode: 0o711 });
  rmSync(socketPath, { force: true });
  const server = Bun.serve({
    unix: socketAddress(socketPath),
    ...NO_IDLE_TIMEOUT,
    maxRequestBodySize: MAX_SOURCE_BYTES,
    routes: {
      [hostPath("/offer")]: { GET: async () => Response.json(await host.offer()) },
      [hostPath("/storage")]: {
        GET: (request) => Response.json(host.measurements.storage(cursorOf(request))),
      },
      [hostPath("/readings")]: {
        GET: (request) => Response.json(host.measurements.readings(cursorOf(request))),
      },
      [hostPath("/free-ports")]: {
        GET: (request) => freePortsResponse(host, new URL(request.url)),
      },
      [hostPath("/journal")]: {
        GET: (request) => journalResponse(host, request),
      },
      [hostPath("/watch")]: {
        GET: (request) => watchResponse(host, request.signal, repeatMs),
      },
      [hostPath("/instances/:id")]: {
        GET: (request) => Response.json(host.observe(request.params.id)),
        PUT: async (request) => {
          const spec = readAs(instanceSpecSchema, await request.json(), "The spec of the instance");
          return Response.json(await host.ensure(spec));
        },
        DELETE: async (request) => {
          await host.remove(request.params.id);
          return new Response(null, { status: 204 });
        },
      },
      [hostPath("/instances/:id/suspend")]: {
        POST: async (request) => Response.json(await host.suspend(request.params.id)),
      },
      [hostPath("/instances/:id/end")]: {
        POST: (request) => Response.json({ isRunning: host.endings.end(request.params.id) }),
      },
      ...questionRoutes(host),
      ...inspectionRoutes(host),
      ...backupRoutes(host),
      ...edgeRoutes(host),
      ...buildRoutes(host.builds, host.environmentLogs),
      ...terminalRoutes(host.builds),
    },
    websocket: terminalSockets,
    fetch: refuseOtherVersions("The host", (message) => log.error({ message }, "an order was refused")),
    error: (error) => refusalOf(error, log),
  });
  // Only the control plane may send requests.
  chmodSync(socketPath, 0o600);
  if (canSwitchUsers()) chownSync(socketPath, CONTROL_ACCOUNT.uid, CONTROL_ACCOUNT.gid);
  return () => server.stop(true);
}

function refusalOf(error: Error, log: Log): Response {
  // A sentence without a cause says all, and is the customer's affair, such as a session that keeps a cluster awake.
  if (error instanceof PublicError && error.cause === undefined)
    log.info({ reason: error.message }, "an order was refused");
  else log.error({ error }, "an order could not be carried out");
  const message = publicMessageOf(error, "The host of this machine failed; its log says why.");
  return Response.json({ message }, { status: error instanceof BusyError ? 503 : 500 });
}

/** The questions about one instance. */
function questionRoutes(host: Host) {
  return {
    [hostPath("/instances/:id/figures")]: {
      GET: async (request: Bun.BunRequest<"/:id">) =>
        Response.json(await host.reports.figures(request.params.id)),
    },
    [hostPath("/instances/:id/logs")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => {
        const query = readAs(logQuerySchema, await request.json(), "The query of the log");
        return Response.json(await host.logs.read(request.params.id, query, request.signal));
      },
    },
    [hostPath("/instances/:id/debug")]: {
      GET: async (request: Bun.BunRequest<"/:id">) => {
        const part = queryOf(request).get("part") ?? "";
        return new Response(await host.reports.debug(request.params.id, part, request.signal));
      },
    },
  };
}

function queryOf(request: Request): URLSearchParams {
  return new URL(request.url).searchParams;
}

function cursorOf(request: Request): string | undefined {
  return queryOf(request).get("cursor") ?? undefined;
}

function freePortsResponse(host: Host, { searchParams }: URL): Response {
  const ports = searchParams.get("ports") ?? "";
  return Response.json(host.freePorts(ports.split(",").filter(Boolean).map(Number)));
}

/** The routes to what runs in an instance, and to what its statements have taken. */
function inspectionRoutes({ inspector }: Host) {
  return {
    [hostPath("/instances/:id/queries")]: {
      GET: async (request: Bun.BunRequest<"/:id">) => {
        const withIdle = queryOf(request).get("idle") === "true";
        return Response.json(await inspector.queries(request.params.id, { withIdle }));
      },
    },
    [hostPath("/instances/:id/queries/:query")]: {
      DELETE: async (request: Bun.BunRequest<"/:id/:query">) => {
        const { id, query } = request.params;
        const scope = readAs(cancelScopeSchema, queryOf(request).get("scope"), "The scope");
        return Response.json(await inspector.cancel(id, query, scope));
      },
    },
    [hostPath("/instances/:id/statements")]: {
      GET: async (request: Bun.BunRequest<"/:id">) => {
        const query = queryOf(request);
        const asked = { order: query.get("order"), limit: Number(query.get("limit")) };
        const selection = readAs(statementsRequestSchema, asked, "The selection of statements");
        return Response.json(await inspector.statements(request.params.id, selection));
      },
      DELETE: async (request: Bun.BunRequest<"/:id">) => {
        await inspector.resetStatements(request.params.id);
        return new Response(null, { status: 204 });
      },
    },
  };
}

/** Backups, and what the keeper stores of them. */
function backupRoutes({ backups }: Host) {
  return {
    [hostPath("/instances/:id/backups/:backup")]: {
      PUT: async (request: Bun.BunRequest<"/:id/:backup">) => {
        const { id, backup } = request.params;
        const name = readAs(backupIdSchema, backup, "The id of the backup");
        return Response.json(await backups.backUp(id, name, request.signal));
      },
    },
    [hostPath("/archives")]: { GET: async () => Response.json(await backups.archives()) },
    [hostPath("/archives/:id")]: {
      GET: async (request: Bun.BunRequest<"/:id">) => Response.json(await backups.archive(request.params.id)),
      DELETE: async (request: Bun.BunRequest<"/:id">) => {
        await backups.deleteArchive(request.params.id);
        return new Response(null, { status: 204 });
      },
    },
    [hostPath("/archives/:id/backups/:backup")]: {
      DELETE: async (request: Bun.BunRequest<"/:id/:backup">) => {
        await backups.deleteBackup(request.params.id, request.params.backup);
        return new Response(null, { status: 204 });
      },
    },
    [hostPath("/archives/:id/retain")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => {
        const retention = readAs(retentionSchema, await request.json(), "The retention");
        await backups.retain(request.params.id, retention);
        return new Response(null, { status: 204 });
      },
    },
    [hostPath("/archives/:id/verify")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => {
        const target = readAs(restoreTargetSchema, await request.json(), "The target of the verification");
        return Response.json(await backups.verifier.verify(request.params.id, target, request.signal));
      },
    },
    [hostPath("/archives/:id/plan")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => {
        const target = readAs(restoreTargetSchema, await request.json(), "The target of the restore");
        return Response.json(await backups.plan(request.params.id, target));
      },
    },
  };
}

/** The routes of the edge. */
function edgeRoutes({ edge }: Host) {
  return {
    [hostPath("/edge/probe")]: {
      POST: async (request: Request) => {
        const query = readAs(edgeProbeSchema, await request.json(), "The probe");
        return Response.json(await edge.probe(query));
      },
    },
    [hostPath("/routes/:id/wake")]: {
      POST: async (request: Bun.BunRequest<"/routes/:id/wake">) => {
        const wake = readAs(routeWakeSchema, await request.json(), "The wake");
        edge.wake(readAs(safeIdSchema, request.params.id, "The id of the route"), wokenFor(wake));
        return new Response(null, { status: 204 });
      },
    },
    [hostPath("/routes")]: { GET: () => Response.json(edge.routes()) },
    [hostPath("/routes/:id")]: {
      PUT: async (request: Bun.BunRequest<"/:id">) => {
        const route = readAs(edgeRouteSchema, await request.json(), "The route");
        if (route.id !== request.params.id) throw new PublicError("The route has another id than its path.");
        await edge.ensure(route);
        return new Response(null, { status: 204 });
      },
      DELETE: async (request: Bun.BunRequest<"/:id">) => {
        await edge.remove(readAs(safeIdSchema, request.params.id, "The id of the route"));
        return new Response(null, { status: 204 });
      },
    },
  };
}

/** The records after a sequence, at once or as soon as there are any. */
async function journalResponse(host: Host, request: Request): Promise<Response> {
  const after = Number(new URL(request.url).searchParams.get("after"));
  if (!Number.isSafeInteger(after))
    throw new PublicError("The record to go on after must be a whole number.");
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(JOURNAL_WAIT_MS)]);
  return Response.json({ version: 1, records: await host.journal.after(after, signal) });
}
