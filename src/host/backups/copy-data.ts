// Copies the data of an instance for a backup or a clone: hot or cold, by what the instance does, and again when the
// instance starts or ends meanwhile.
import type { BackupFacts } from "../../contracts/keeper.ts";
import { NeedsRecovery, type EngineBackup } from "../../engines/backup.ts";
import { engineNamed } from "../../engines/index.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { dissolve } from "../os/cgroup.ts";
import { coldCopy, hotCopy, type Contents, type RunningCopy } from "./copy-stream.ts";
import type { Copies } from "./copies.ts";
import type { Copyable, DataSource } from "./data-source.ts";
import type { SharedPlaces } from "../../lib/shared-places.ts";

/** How often a copy is begun that the instance interrupts: a wake ends a cold copy, the end of an engine a hot copy. */
const MAX_ATTEMPTS = 20;

/** How long an instance may be on its way to run or to sleep. */
const SETTLE_TIMEOUT_MS = 60_000;
const SETTLE_CHECK_MS = 100;

/** How long the end of an engine may be unnoticed after its session was lost. */
const END_NOTICE_MS = 500;

/** What data is copied with. */
export interface CopyingParts {
  copies: Copies;
  /** Bounds the copies of all instances together; a copy is that of the instance that is copied. */
  places: SharedPlaces;
  cgroups: CgroupBackend | null;
  log: Log;
}

/** One copy. */
interface CopyOrder {
  /** The id of the backup, or any name for a clone. */
  backup: string;
  signal: AbortSignal;
}

/**
 * Takes the stream of a copy; its signal is aborted when the copy is.
 * @returns the bytes of the stream.
 */
export type TakeCopy = (copy: RunningCopy, signal: AbortSignal) => Promise<number>;

/** The instance changed while it was copied, so the copy is begun again. */
class Interrupted extends Error {
  override name = "Interrupted";
}

/**
 * Copies the data of an instance.
 * @param take is called again for each copy that is begun anew.
 * @throws PublicError when the instance cannot be copied.
 */
export async function copyData(
  parts: CopyingParts,
  source: DataSource,
  order: CopyOrder,
  take: TakeCopy,
): Promise<BackupFacts> {
  const recipe = recipeOf(source);
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Before a place is taken, which an instance that does not run would keep from all others.
      const now = await untilCopyable(source, order.signal);
      const attemptNow = () => attemptCopy(parts, recipe, now, order, take);
      return await parts.places.run(source.id, attemptNow, order.signal);
    } catch (error) {
      if (error instanceof NeedsRecovery) await wakeToRecover(source, order.signal, error);
      else if (!(error instanceof Interrupted)) throw error;
      if (attempt >= MAX_ATTEMPTS)
        throw new PublicError(`${source.id} starts and ends too often to be copied now.`, error);
      parts.log.info({ instance: source.id, error: error.cause }, "a copy was interrupted");
    }
  }
}

/** @throws PublicError for an instance without data. */
function recipeOf({ id, manifest }: DataSource): EngineBackup {
  if (manifest === null) throw new PublicError(`${id} does not exist.`);
  const { backup } = engineNamed(manifest.engine.name);
  if (backup === undefined) throw new PublicError(`${id} has no data to back up.`);
  return backup;
}

/**
 * Waits until the instance runs or sleeps.
 * @returns a function that looks at it once more.
 * @throws PublicError when it does neither for long.
 */
async function untilCopyable(source: DataSource, signal: AbortSignal): Promise<() => Copyable | null> {
  const runnable = await source.runnable();
  const giveUpAt = performance.now() + SETTLE_TIMEOUT_MS;
  while (source.now(runnable) === null) {
    signal.throwIfAborted();
    if (source.manifest === null || source.manifest.state === "removing")
      throw new PublicError(`${source.id} was removed.`);
    if (performance.now() > giveUpAt)
      throw new PublicError(`${source.id} neither runs nor sleeps, so it cannot be copied now.`);
    await Bun.sleep(SETTLE_CHECK_MS);
  }
  return () => source.now(runnable);
}

/** Has the engine recover the data, which is copied from the running engine then. @throws the fault when it does not run. */
async function wakeToRecover(source: DataSource, signal: AbortSignal, fault: NeedsRecovery): Promise<void> {
  source.wake();
  const giveUpAt = performance.now() + SETTLE_TIMEOUT_MS;
  while (!source.isServing) {
    signal.throwIfAborted();
    if (performance.now() > giveUpAt) throw fault;
    await Bun.sleep(SETTLE_CHECK_MS);
  }
}

/** @throws Interrupted when the instance starts or ends meanwhile. */
async function attemptCopy(
  parts: CopyingParts,
  recipe: EngineBackup,
  now: () => Copyable | null,
  { backup, signal: callers }: CopyOrder,
  take: TakeCopy,
): Promise<BackupFacts> {
  // No await separates the look at the instance from the note of its copy, so no start or sleep can come between.
  const data = now();
  if (data === null) throw new Interrupted();
  const { id } = data.manifest.spec;
  const isHot = data.state === "running";
  const interruption = new AbortController();
  const ended = Promise.withResolvers<void>();
  const end = () => {
    interruption.abort(new Interrupted());
    return ended.promise;
  };
  const over = parts.copies.begin(id, { isHot, end });
  if (isHot) void data.process.exited.then(end);
  const order = { backup, signal: AbortSignal.any([callers, interruption.signal]) };
  try {
    return await copyOnce(parts, recipe, data, order, take);
  } catch (error) {
    callers.throwIfAborted();
    // The loss of the session may be seen before the end of the engine.
    if (isHot) await Promise.race([data.process.exited, Bun.sleep(END_NOTICE_MS)]);
    throw interruption.signal.aborted ? new Interrupted("it was interrupted", { cause: error }) : error;
  } finally {
    over();
    // A start uses the group.
    if (!isHot && !interruption.signal.aborted) await dissolve(parts.cgroups, id);
    ended.resolve();
  }
}

async function copyOnce(
  { cgroups }: CopyingParts,
  recipe: EngineBackup,
  data: Copyable,
  { backup, signal }: CopyOrder,
  take: TakeCopy,
): Promise<BackupFacts> {
  const { manifest, runnable } = data;
  const isHot = data.state === "running";
  const parts = { id: manifest.spec.id, runnable, cgroups, signal };
  const copy = isHot
    ? await hotCopy(parts, recipe, backup)
    : await coldCopy(parts, recipe, contentsOf(manifest));
  try {
    const dataBytes = await take(copy, signal);
    const { name, version } = runnable.context.installed;
    const engine = { name, version, major: manifest.engine.major };
    return { engine, isHot, dataBytes, ...copy.facts() };
  } finally {
    await copy.close();
  }
}

/** The names of the users and databases in stopped data, as far as the manifest knows them. */
function contentsOf({ spec, sleep, madeDatabases }: Manifest): Contents {
  const users = sleep.users ?? spec.users;
  return { users: users.map(({ name }) => name), databases: madeDatabases ?? [] };
}
