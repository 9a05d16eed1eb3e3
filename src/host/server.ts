// The host's unix socket: HTTP with JSON, for the control plane of the same machine alone.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { WatchLine } from "../contracts/host-answers.ts";
import { instanceSpecSchema } from "../contracts/instance-spec.ts";
import { readAs } from "../contracts/read.ts";
import { hostPath, refuseOtherVersions } from "../contracts/versions.ts";
import type { MetricsQuery, Observation } from "../drivers/driver.ts";
import { PublicError, publicMessageOf } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import { socketAddress } from "../lib/unix-socket.ts";
import { canSwitchUsers, CONTROL_ACCOUNT } from "./os/accounts.ts";
import type { Host } from "./host.ts";

/** A watcher that hears nothing for so long is told all again, in case something was missed. */
const RESYNC_INTERVAL_MS = 30_000;

/** Between so many instances of a resync the host sees to everything else. */
const RESYNC_SLICE = 200;

/** How long an answer is held when nothing has happened. */
const JOURNAL_WAIT_MS = 20_000;

/** Engines take the time they need, and a watch has no end. Bun heeds this for unix sockets, but its types do not say so. */
const NO_IDLE_TIMEOUT: object = { idleTimeout: 0 };

/** Begins to serve; the returned function ends it. */
export function serveHost(host: Host, socketPath: string, log: Log): () => Promise<void> {
  mkdirSync(dirname(socketPath), { recursive: true, mode: 0o711 });
  rmSync(socketPath, { force: true });
  const server = Bun.serve({
    unix: socketAddress(socketPath),
    ...NO_IDLE_TIMEOUT,
    routes: {
      [hostPath("/offer")]: { GET: async () => Response.json(await host.offer()) },
      [hostPath("/storage")]: {
        GET: (request) => {
          const cursor = new URL(request.url).searchParams.get("cursor") ?? undefined;
          return Response.json(host.storage(cursor));
        },
      },
      [hostPath("/free-ports")]: {
        GET: (request) => freePortsResponse(host, new URL(request.url)),
      },
      [hostPath("/journal")]: {
        GET: (request) => journalResponse(host, request),
      },
      [hostPath("/watch")]: {
        GET: (request) => watchResponse(host, request.signal),
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
      [hostPath("/instances/:id/metrics")]: {
        GET: async (request) =>
          Response.json(
            await host.metrics(request.params.id, metricsQuery(new URL(request.url).searchParams)),
          ),
      },
      [hostPath("/instances/:id/figures")]: {
        GET: async (request) => Response.json(await host.figures(request.params.id)),
      },
    },
    fetch: refuseOtherVersions("The host", (message) => log.error({ message }, "an order was refused")),
    error: (error) => {
      log.error({ error }, "an order could not be carried out");
      const message = publicMessageOf(error, "The host of this machine failed; its log says why.");
      return Response.json({ message }, { status: 500 });
    },
  });
  // Nobody but the control plane may give orders.
  chmodSync(socketPath, 0o600);
  if (canSwitchUsers()) chownSync(socketPath, CONTROL_ACCOUNT.uid, CONTROL_ACCOUNT.gid);
  return () => server.stop(true);
}

function freePortsResponse(host: Host, { searchParams }: URL): Response {
  const ports = searchParams.get("ports") ?? "";
  return Response.json(host.freePorts(ports.split(",").filter(Boolean).map(Number)));
}

function metricsQuery(query: URLSearchParams): MetricsQuery {
  const part = query.get("part");
  return { periodSeconds: Number(query.get("period")), ...(part !== null && { part }) };
}

/** What happened since a record, at once or as soon as something does. */
async function journalResponse(host: Host, request: Request): Promise<Response> {
  const after = Number(new URL(request.url).searchParams.get("after"));
  if (!Number.isSafeInteger(after))
    throw new PublicError("The record to go on after must be a whole number.");
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(JOURNAL_WAIT_MS)]);
  return Response.json({ version: 1, records: await host.journal.after(after, signal) });
}

/** One JSON object a line: every observation, then the ids of all, then each change; all of it again from time to time. */
function watchResponse(host: Host, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (line: WatchLine) => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      const sendAll = async () => {
        // Each observation is one of the moment when it is sent, so changes may come in between.
        for (const [index, { id }] of host.observeAll().entries()) {
          if (index % RESYNC_SLICE === RESYNC_SLICE - 1) await Bun.sleep(0);
          if (signal.aborted) return;
          send({ type: "observation", observation: host.observe(id) });
        }
        if (signal.aborted) return;
        const present = host.observeAll().filter(({ state }) => state !== "absent");
        send({ type: "synced", ids: present.map(({ id }) => id) });
      };
      const stopListening = host.listen((observation: Observation) =>
        send({ type: "observation", observation }),
      );
      const timer = setInterval(() => void sendAll(), RESYNC_INTERVAL_MS);
      signal.addEventListener("abort", () => {
        clearInterval(timer);
        stopListening();
      });
      void sendAll();
    },
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}
