// Builds the first data of an instance from its origin: a backup and its log out of the archive, or another instance.
import type { RestorePlan, RestoreTarget } from "../../contracts/keeper.ts";
import { RestoreFault, type EngineReplica } from "../../engines/backup.ts";
import { PublicError } from "../../lib/errors.ts";
import { eachAtOnce } from "../../lib/each-at-once.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { SharedPlaces } from "../../lib/shared-places.ts";
import type { DataOrigin } from "../provisioning/origin.ts";
import { copyFolder } from "./copy-folder.ts";
import { copyData, type CopyingParts, type TakeCopy } from "./copy-data.ts";
import type { DataSource } from "./data-source.ts";
import { KeeperUnreachable, PlanRefused, type KeeperClient } from "./keeper-client.ts";
import { recoverData } from "./recovery.ts";
import {
  emptyFolders,
  ensureLogFolder,
  foldersOf,
  unpack,
  UnreadableStream,
  writeLog,
  type DataBuild,
} from "./unpack.ts";

/** A keeper that is restarted breaks a stream off as damage does, but not again and again. */
const MAX_READS = 3;
const READ_AGAIN_AFTER_MS = 1_500;

/** The keeper opens some segments while another is written. */
const SEGMENTS_AT_ONCE = 3;

/** What origins are built with. */
export interface OriginParts extends CopyingParts {
  keeper: KeeperClient;
  find(id: string): DataSource | undefined;
  inLine<T>(id: string, copy: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Bounds the restores of all instances together; a restore is that of the instance whose data it has. */
  restorePlaces: SharedPlaces;
  plan(archive: string, target: RestoreTarget, signal: AbortSignal): Promise<RestorePlan>;
}

/** The stream of a backup or of its log broke off. */
class BrokenOff extends Error {
  override name = "BrokenOff";
  /** What cannot be read as a whole, for a sentence. */
  readonly piece: string;

  constructor(piece: string, cause: unknown) {
    super(`the stream of ${piece} broke off`, { cause });
    this.piece = piece;
  }
}

/** @throws RestoreFault when the origin cannot be restored, PublicError when it may work another time. */
export async function buildFromOrigin(
  parts: OriginParts,
  origin: DataOrigin,
  build: DataBuild,
): Promise<void> {
  if ("instance" in origin) {
    const { instance } = origin;
    return await withRetries(parts, build, () => clone(parts, instance, build), {
      what: "copy",
      ask: async () => undefined,
      hasFault: async () => false,
    });
  }
  const replica = "primary" in origin ? { replica: replicaOf(build) } : {};
  const { archive, ...target } =
    "primary" in origin ? { archive: origin.primary, latest: true as const } : origin;
  const restoring = async () => {
    const plan = await planRestore(parts, archive, target, build.signal);
    await failpoint("host.restore.planned");
    await restorePlanned(parts, { archive, target, plan, ...replica }, build);
  };
  await parts.restorePlaces.run(archive, restoring, build.signal);
}

/** What is restored, and how. */
interface PlannedRestore {
  archive: string;
  target: RestoreTarget;
  plan: RestorePlan;
  /** Makes the data that of a replica; left out for data that is brought to a state. */
  replica?: EngineReplica;
}

/** Restores data that is planned. @throws RestoreFault when it cannot be restored, PublicError when it may work another time. */
export async function restorePlanned(
  parts: Pick<OriginParts, "keeper" | "plan" | "log">,
  { target, ...restoring }: PlannedRestore,
  build: DataBuild,
): Promise<void> {
  const attempt = () => restore(parts, restoring, build);
  // A keeper that is away is no fault of the backup, and says nothing here.
  const ask = () => planRestore(parts, restoring.archive, target, build.signal);
  const hasFault = async () => {
    const state = await parts.keeper.archive(restoring.archive, build.signal);
    return state !== null && state.lastError !== null;
  };
  await withRetries(parts, build, attempt, { what: nameOf(restoring.plan), ask, hasFault });
}

/**
 * Begins anew after a stream that broke off or could not be unpacked.
 * @param of what is read, for a sentence, and a question that throws when such a stream says nothing about it.
 * `hasFault` says whether its archive has a fault just now, such as a target that is away, which breaks streams off as well.
 * @throws RestoreFault after some such streams, PublicError when it may work another time.
 */
async function withRetries(
  { log }: Pick<OriginParts, "log">,
  { id, signal }: DataBuild,
  attempt: () => Promise<void>,
  { what, ask, hasFault }: { what: string; ask: () => Promise<unknown>; hasFault: () => Promise<boolean> },
): Promise<void> {
  for (let read = 1; ; read += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof BrokenOff || error instanceof UnreadableStream)) throw error;
      log.warn({ error, instance: id }, "the stream of a backup could not be used");
      await Bun.sleep(READ_AGAIN_AFTER_MS);
      signal.throwIfAborted();
      await ask();
      if (read < MAX_READS) continue;
      if (error instanceof BrokenOff && (await hasFault()))
        throw new PublicError("The backup could not be read, since its archive has a fault just now.", error);
      throw damaged(error, what);
    }
  }
}

/** @throws RestoreFault for an engine that follows no other. */
function replicaOf({ recipe }: DataBuild): EngineReplica {
  const replica = recipe.log?.replica ?? null;
  if (replica === null) throw new RestoreFault("The engine can follow no other.");
  return replica;
}

function damaged(error: BrokenOff | UnreadableStream, what: string): RestoreFault {
  if (error instanceof BrokenOff) {
    const { piece } = error;
    return new RestoreFault(`A part of the ${piece} is damaged or missing, so it cannot be restored.`, error);
  }
  return new RestoreFault(`The ${what} is damaged: its data cannot be unpacked.`, error);
}

/** A backup by its moment, which a snapshot shows as well. */
function nameOf({ backup }: RestorePlan): string {
  return `backup of ${backup.completedAt}`;
}

async function planRestore(
  parts: Pick<OriginParts, "plan">,
  archive: string,
  target: RestoreTarget,
  signal: AbortSignal,
): Promise<RestorePlan> {
  try {
    return await parts.plan(archive, target, signal);
  } catch (error) {
    throw error instanceof PlanRefused ? new RestoreFault(error.message, error) : error;
  }
}

async function restore(
  { keeper }: Pick<OriginParts, "keeper">,
  { archive, plan, ...how }: Omit<PlannedRestore, "target">,
  build: DataBuild,
): Promise<void> {
  const { recipe, signal } = build;
  const { backup: facts, recovery, segments } = plan;
  // The replay of the log takes about as long for each byte as its transfer.
  const replayBytes = plan.totalBytes - facts.plainBytes;
  const totalBytes = plan.totalBytes + replayBytes;
  let doneBytes = 0;
  const onBytes = (bytes: number) => build.progress((doneBytes += bytes), totalBytes);
  await emptyFolders(build);
  const stream = unbroken(() => keeper.read(archive, facts.id, signal), signal, nameOf(plan));
  await unpack(build, facts.format, stream, onBytes);
  await failpoint("host.restore.unpacked");
  const folder = recipe.log?.folder(foldersOf(build).dataDir);
  if (folder !== undefined && segments.length > 0) {
    ensureLogFolder(build, folder);
    await eachAtOnce(segments, SEGMENTS_AT_ONCE, signal, async ({ name }, ends) => {
      const content = unbroken(() => keeper.readLog(archive, name, ends), ends, `log ${name}`);
      onBytes(await writeLog(build, folder, name, content));
    });
  }
  await failpoint("host.restore.logged");
  const onShare = (share: number) => build.progress(doneBytes + share * replayBytes, totalBytes);
  await recoverData(build, { facts, recovery, ...how, onShare });
}

/** @throws BrokenOff when the stream breaks off, which a damaged first part has it do before it begins. */
async function* unbroken(
  open: () => Promise<AsyncIterable<Uint8Array>>,
  signal: AbortSignal,
  piece: string,
): AsyncGenerator<Uint8Array> {
  let hasBegun = false;
  try {
    const stream = await open();
    hasBegun = true;
    yield* stream;
  } catch (error) {
    signal.throwIfAborted();
    if (!hasBegun && !(error instanceof KeeperUnreachable)) throw error;
    throw new BrokenOff(piece, error);
  }
}

/**
 * Copies the data of another instance, which goes on as before. It may wait for hours until that can be copied, and takes
 * no restore's place meanwhile: copies have places of their own.
 */
async function clone(parts: OriginParts, from: string, build: DataBuild): Promise<void> {
  const source = parts.find(from);
  if (source === undefined || source.manifest === null)
    throw new RestoreFault("The instance to clone does not exist any more.");
  const { id, signal } = build;
  let isLocalCopy = false;
  const take: TakeCopy = async (copy, interrupted) => {
    await emptyFolders(build);
    isLocalCopy = copy.folder !== null;
    if (copy.folder !== null) return await copyFolder(build, copy.folder, interrupted);
    let doneBytes = 0;
    return await unpack(build, copy.format, copy.stream, (bytes) =>
      build.progress((doneBytes += bytes), doneBytes),
    );
  };
  const copying = () => copyData(parts, source, { backup: id, signal }, take);
  const facts = await parts.inLine(from, copying, signal);
  if (facts.dataBytes === 0) throw new PublicError("The instance to clone has no data.");
  await failpoint("host.restore.unpacked");
  const recovery = { kind: "immediate" } as const;
  const recovering = { facts, recovery, isLocalCopy, onShare: () => undefined };
  await parts.restorePlaces.run(from, () => recoverData(build, recovering), signal);
}
