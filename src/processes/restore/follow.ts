// Follows resources until each is back or has failed, and says so.
import type { RestoredResource } from "../../contracts/restore-all.ts";
import type { Driver } from "../../drivers/driver.ts";
import { bytesText } from "../../cli/shared/details.ts";
import { processIo } from "../../cli/index.ts";
import { INSTANCE_KINDS, type InstanceKind } from "../../resources/shared/instance-kinds.ts";
import type { Database } from "../../store/database.ts";
import { say } from "../program/terminal.ts";

const INTERVAL_MS = 500;

const NOUNS = { caches: "cache", databases: "database cluster", websockets: "WebSocket cluster" } as const;

/** The statuses of a resource that comes no further by itself. */
const FAILED = new Set(["restore_failed", "unknown"]);

interface Progress {
  status: string;
  error: string | null;
}

/** The bytes of each instance whose data is being restored, as the driver reports them. */
export class RestoredBytes {
  readonly #bytes = new Map<string, { doneBytes: number; totalBytes: number }>();

  constructor(driver: Driver, signal: AbortSignal) {
    driver.watch(
      {
        changed: ({ id, restoring }) => {
          if (restoring === undefined) this.#bytes.delete(id);
          else this.#bytes.set(id, restoring);
        },
        synced: () => undefined,
      },
      signal,
    );
  }

  /** Shows the bytes while something is restored. */
  async shownDuring<T>(work: Promise<T>): Promise<T> {
    const timer = setInterval(() => showProgress(`Restoring${this.text}`), INTERVAL_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      showProgress("");
    }
  }

  /** Such as `, 120 MiB of 400 MiB`; empty when nothing is on its way. */
  get text(): string {
    const all = [...this.#bytes.values()];
    if (all.length === 0) return "";
    const sum = (member: "doneBytes" | "totalBytes") => all.reduce((bytes, each) => bytes + each[member], 0);
    return `, ${bytesText(sum("doneBytes"))} of ${bytesText(sum("totalBytes"))}`;
  }
}

/** @returns the number of resources that have failed. */
export async function followResources(
  db: Database,
  resources: readonly RestoredResource[],
  bytes: RestoredBytes,
  signal: AbortSignal,
): Promise<number> {
  const waiting = new Map(resources.map((resource) => [resource.id, resource]));
  let failures = 0;
  while (waiting.size > 0 && !signal.aborted) {
    const states = await progressOf(db);
    for (const resource of waiting.values()) {
      const state = states.get(resource.id);
      const end = endOf(resource, state);
      if (end === null) continue;
      waiting.delete(resource.id);
      if (state !== undefined && FAILED.has(state.status)) failures += 1;
      showProgress("");
      say(end);
    }
    const ended = resources.length - waiting.size;
    if (waiting.size > 0) showProgress(`Restoring: ${ended} of ${resources.length} have ended${bytes.text}`);
    await Bun.sleep(INTERVAL_MS);
  }
  return failures;
}

/** Overwrites a line of a terminal; a log file gets nothing. */
export function showProgress(line: string): void {
  const io = processIo();
  if (io.isErrTerminal) io.redraw(line);
}

/** How a resource has ended, as a sentence; null while it is on its way. */
function endOf({ kind, name, at }: RestoredResource, state: Progress | undefined): string | null {
  const subject = `${name} (${NOUNS[kind]})`;
  if (state === undefined) return `${subject} was deleted.`;
  if (FAILED.has(state.status)) return `${subject} could not be restored: ${state.error ?? state.status}`;
  if (state.status !== "available") return null;
  return at === null ? `${subject} is back.` : `${subject} is back with its data of ${at}.`;
}

async function progressOf(db: Database): Promise<Map<string, Progress>> {
  const kinds = Object.keys(INSTANCE_KINDS) as InstanceKind[];
  const found = kinds.map(async (kind) => {
    const error = kind === "websockets" ? "null" : "origin ->> 'error'";
    return await db<(Progress & { id: string })[]>`
      select id, status, ${db.unsafe(error)} as error from ${db.unsafe(INSTANCE_KINDS[kind].table)}`;
  });
  return new Map((await Promise.all(found)).flat().map(({ id, ...progress }) => [id, progress]));
}
