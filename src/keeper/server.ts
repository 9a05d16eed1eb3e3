// The keeper's unix socket: HTTP with JSON and raw streams, for the host of the same machine only.
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import {
  announcementSchema,
  archiveIdSchema,
  backupFactsSchema,
  backupIdSchema,
  logFileSchema,
  restoreTargetSchema,
  retentionSchema,
  type PlanRefusal,
  type ArchiveWatchLine,
} from "../contracts/keeper.ts";
import { ContractError, readAs } from "../contracts/read.ts";
import { keeperPath, refuseOtherVersions } from "../contracts/versions.ts";
import { messageOf, PublicError } from "../lib/errors.ts";
import type { Log } from "../lib/line-log.ts";
import { socketAddress } from "../lib/unix-socket.ts";
import { BackupConflict } from "./backups/backup-store.ts";
import type { Keeper } from "./keeper.ts";
import { PlanRefused } from "./log/plan.ts";
import { bodyOf, ClientGone } from "./request-stream.ts";
import { DamagedObject, MissingObject, WrongKey } from "./object-store.ts";
import { TargetError } from "./targets/target.ts";

/** Streams pause, and a watch has no end. Bun applies this to unix sockets, although its types omit it. */
const NO_IDLE_TIMEOUT: object = { idleTimeout: 0 };

type ArchiveRequest = Bun.BunRequest<"/:id">;
type BackupRequest = Bun.BunRequest<"/:id/:backup">;

/** Begins to serve; the returned function ends that. The socket belongs to the user of this moment alone. */
export function serveKeeper(keeper: Keeper, socketPath: string, log: Log): () => Promise<void> {
  mkdirSync(dirname(socketPath), { recursive: true, mode: 0o711 });
  rmSync(socketPath, { force: true });
  const server = Bun.serve({
    unix: socketAddress(socketPath),
    ...NO_IDLE_TIMEOUT,
    // A stream is cut into parts as it comes, so no request is too large.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    routes: {
      // The host asks it to distinguish a slow target from a keeper that is stopped.
      [keeperPath("/alive")]: { GET: () => new Response(null, { status: 204 }) },
      ...archiveRoutes(keeper),
      ...backupRoutes(keeper),
    },
    fetch: refuseOtherVersions("The keeper", (message) => log.error({ message }, "a request was refused")),
    error: (error) => {
      if (!(error instanceof ClientGone)) log.error({ error }, "a request could not be carried out");
      return refusal(error);
    },
  });
  chmodSync(socketPath, 0o600);
  return () => server.stop(true);
}

function archiveRoutes(keeper: Keeper) {
  const { archives } = keeper;
  return {
    [keeperPath("/archives")]: {
      GET: async () => {
        await keeper.loaded();
        return Response.json(archives.states());
      },
    },
    [keeperPath("/archives/watch")]: {
      GET: async (request: Request) => {
        await keeper.loaded();
        return watchResponse(keeper, request.signal);
      },
    },
    [keeperPath("/archives/:id")]: {
      GET: async (request: ArchiveRequest) => {
        await keeper.loaded();
        const state = archives.state(archiveOf(request));
        return state === null ? notFound("archive") : Response.json(state);
      },
      PUT: async (request: ArchiveRequest) => {
        const announcement = readAs(announcementSchema, await request.json(), "The announcement");
        await keeper.loaded();
        return Response.json(await archives.announce(archiveOf(request), announcement));
      },
      DELETE: async (request: ArchiveRequest) => {
        await keeper.loaded();
        await archives.delete(archiveOf(request));
        return new Response(null, { status: 204 });
      },
    },
    ...logRoutes(keeper),
    [keeperPath("/check")]: {
      POST: () => ndjson(keeper.check()),
    },
  };
}

function logRoutes(keeper: Keeper) {
  const { archives } = keeper;
  return {
    [keeperPath("/archives/:id/flush")]: {
      POST: async (request: ArchiveRequest) => {
        await keeper.loaded();
        return Response.json(await archives.flush(archiveOf(request)));
      },
    },
    [keeperPath("/archives/:id/plan")]: {
      POST: async (request: ArchiveRequest) => await planResponse(keeper, request),
    },
    [keeperPath("/archives/:id/retain")]: {
      POST: async (request: ArchiveRequest) => {
        const retention = readAs(retentionSchema, await request.json(), "The retention");
        await keeper.loaded();
        return Response.json(await archives.retain(archiveOf(request), retention));
      },
    },
    [keeperPath("/archives/:id/log/:segment")]: {
      GET: async (request: Bun.BunRequest<"/:id/:segment">) => {
        const name = readAs(logFileSchema, request.params.segment, "The name of the segment");
        await keeper.loaded();
        const bytes = await archives.segment(archiveOf(request), name);
        return new Response(new Uint8Array(bytes), {
          headers: { "content-type": "application/octet-stream" },
        });
      },
    },
  };
}

/** A refusal that another attempt does not change is a 409. */
async function planResponse(keeper: Keeper, request: ArchiveRequest): Promise<Response> {
  const target = readAs(restoreTargetSchema, await request.json(), "The target of the restore");
  try {
    await keeper.loaded();
    return Response.json(await keeper.archives.plan(archiveOf(request), target));
  } catch (error) {
    const refused = error instanceof WrongKey ? new PlanRefused("wrong_key", sentenceOf(error)) : error;
    if (!(refused instanceof PlanRefused)) throw error;
    const { code, message } = refused;
    return Response.json({ code, message } satisfies PlanRefusal, { status: 409 });
  }
}

function backupRoutes(keeper: Keeper) {
  const { archives } = keeper;
  return {
    [keeperPath("/archives/:id/backups/:backup")]: {
      PUT: async (request: BackupRequest) => {
        const [archive, backup] = [archiveOf(request), backupOf(request)];
        await keeper.loaded();
        return Response.json(await archives.store(archive, backup, bodyOf(request)));
      },
      GET: async (request: BackupRequest) => {
        const parts = await archives.read(archiveOf(request), backupOf(request));
        return new Response(streamOf(parts), { headers: { "content-type": "application/octet-stream" } });
      },
      DELETE: async (request: BackupRequest) => {
        await keeper.loaded();
        await archives.deleteBackup(archiveOf(request), backupOf(request));
        return new Response(null, { status: 204 });
      },
    },
    [keeperPath("/archives/:id/backups/:backup/complete")]: {
      POST: async (request: BackupRequest) => {
        const facts = readAs(backupFactsSchema, await request.json(), "The facts about the backup");
        await keeper.loaded();
        return Response.json(await archives.complete(archiveOf(request), backupOf(request), facts));
      },
    },
  };
}

function archiveOf({ params }: { params: { id: string } }): string {
  return readAs(archiveIdSchema, params.id, "The id of the archive");
}

function backupOf({ params }: { params: { backup: string } }): string {
  return readAs(backupIdSchema, params.backup, "The id of the backup");
}

function notFound(what: string): Response {
  return Response.json({ message: `There is no such ${what}.` }, { status: 404 });
}

/** The answer to a request that failed; the host shows the message to operators and customers. */
function refusal(error: unknown): Response {
  if (error instanceof MissingObject) return notFound("backup");
  return Response.json({ message: sentenceOf(error) }, { status: statusOf(error) });
}

function sentenceOf(error: unknown): string {
  if (error instanceof PublicError || error instanceof TargetError) return error.message;
  if (error instanceof WrongKey) return "The backups were made with another key than that of the key file.";
  if (error instanceof DamagedObject) return `A backup cannot be read: ${messageOf(error)}.`;
  return "The keeper of backups failed; its log says why.";
}

function statusOf(error: unknown): number {
  if (error instanceof ContractError) return 400;
  return error instanceof BackupConflict ? 409 : 500;
}

/** The state of each archive, then `synced`, then each change. */
function watchResponse({ archives }: Keeper, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (line: ArchiveWatchLine) =>
        controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      for (const archive of archives.states()) send({ type: "archive", archive });
      send({ type: "synced" });
      signal.addEventListener("abort", archives.listen(send));
    },
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

function ndjson(lines: AsyncGenerator<object>): Response {
  const encoder = new TextEncoder();
  const body = streamOf(lines, (line) => encoder.encode(`${JSON.stringify(line)}\n`));
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

function streamOf(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array>;
function streamOf<T>(items: AsyncGenerator<T>, encode: (item: T) => Uint8Array): ReadableStream<Uint8Array>;
/** Makes one chunk at a time, when the reader wants it; an error breaks the stream off. */
function streamOf<T>(
  items: AsyncGenerator<T>,
  encode = (item: T) => item as Uint8Array,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await items.next();
      if (done === true) controller.close();
      else controller.enqueue(encode(value));
    },
    async cancel() {
      await items.return(undefined);
    },
  });
}
