// One verified restore: restores a target of an archive to a throw-away folder, and has the engine read all of it.
import { statfs } from "node:fs/promises";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { RestorePlan, RestoreTarget } from "../../contracts/keeper.ts";
import type { Limits } from "../../contracts/observation.ts";
import type { VerifiedRestore } from "../../contracts/verification.ts";
import { RestoreFault } from "../../engines/backup.ts";
import type { EngineContext } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import type { DataSource } from "./data-source.ts";
import { PlanRefused } from "./keeper-client.ts";
import { restorePlanned, type OriginParts } from "./origin-builder.ts";
import { verifyData } from "./recovery.ts";
import type { DataBuild } from "./unpack.ts";

/** How long all data of a restored copy may be read; the rest of a larger copy is left out. */
const CHECK_TIMEOUT_MS = 2 * 3_600_000;

/** The most memory for a copy of a database: it need not be fast, and must not take what the machine has left. */
const DATABASE_MEMORY_BYTES = 1024 ** 3;

/** What must be left on the disk beside the copy, which may grow by a part of its size meanwhile. */
const SPARE_BYTES = 1024 ** 3;
const GROWTH = 1.25;

/** What verified restores are made with. */
export interface VerifyingParts extends Pick<OriginParts, "keeper" | "plan" | "log"> {
  cgroups: CgroupBackend | null;
}

/** What is verified, and where. */
interface VerificationOrder {
  target: RestoreTarget;
  /** An empty folder, which the caller deletes. */
  folder: string;
  /** The name of the group that bounds the programs. */
  group: string;
  signal: AbortSignal;
}

/**
 * Restores and checks a target of an instance's archive, without a look at the instance's own data.
 * @throws PublicError when that is not possible now; a target that cannot be restored is a result with faults.
 */
export async function verifyRestore(
  parts: VerifyingParts,
  source: DataSource,
  order: VerificationOrder,
): Promise<VerifiedRestore> {
  const { id: archive } = source;
  const { target } = order;
  const build = await buildOf(parts, source, order);
  let plan: RestorePlan | null = null;
  try {
    plan = await parts.plan(archive, target, order.signal);
    await assertRoom(order.folder, plan);
    const restoreSeconds = await timed(() =>
      restorePlanned(parts, { archive, target, plan: plan as RestorePlan }, build),
    );
    await failpoint("host.verification.restored");
    return await checkCopy(build, plan, restoreSeconds);
  } catch (error) {
    order.signal.throwIfAborted();
    const fault = await faultIn(parts, error, { archive, target, plan });
    return { ...nothingChecked(target, plan), faults: [fault] };
  }
}

const ignore = () => undefined;

async function buildOf(
  { cgroups }: VerifyingParts,
  source: DataSource,
  { folder, group, signal }: VerificationOrder,
): Promise<DataBuild> {
  const { engine, context } = await source.runnable();
  const { backup: recipe } = engine;
  if (recipe === undefined) throw new PublicError(`${source.id} has no data to restore.`);
  const bounded = { ...context, limits: limitsOf(context) };
  return {
    id: group,
    engine,
    recipe,
    context: bounded,
    folder,
    cgroups,
    isThrowAway: true,
    signal,
    progress: ignore,
  };
}

/** A cache must fit into its memory; a database reads its data with less. */
function limitsOf({ spec, limits }: EngineContext<InstanceSpec>): Limits {
  if (spec.kind === "cache") return limits;
  const { totalMemoryBytes: total, ...others } = limits;
  return {
    ...others,
    memoryBytes: Math.min(limits.memoryBytes, DATABASE_MEMORY_BYTES),
    ...(total === undefined ? {} : { totalMemoryBytes: Math.min(total, 2 * DATABASE_MEMORY_BYTES) }),
  };
}

/** @throws PublicError when the disk could become full, which would stop customers. */
async function assertRoom(folder: string, { backup, totalBytes }: RestorePlan): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const logBytes = totalBytes - backup.plainBytes;
  if (bavail * bsize < (backup.dataBytes + logBytes) * GROWTH + SPARE_BYTES)
    throw new PublicError("The disk of the host has no room for a copy that could be verified.");
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return secondsSince(startedAt);
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1_000;
}

async function checkCopy(
  build: DataBuild,
  plan: RestorePlan,
  restoreSeconds: number,
): Promise<VerifiedRestore> {
  const startedAt = performance.now();
  const { backup: facts, recovery } = plan;
  const found = await verifyData(build, { facts, recovery }, CHECK_TIMEOUT_MS);
  const target = { backup: facts.id };
  return {
    ...nothingChecked(target, plan),
    restoreSeconds,
    checkSeconds: secondsSince(startedAt),
    ...found,
  };
}

function nothingChecked(target: RestoreTarget, plan: RestorePlan | null): VerifiedRestore {
  const { recovery } = plan ?? {};
  const asked = "at" in target ? target.at : null;
  return {
    backup: plan?.backup.id ?? ("backup" in target ? target.backup : null),
    at: recovery?.kind === "time" ? recovery.at : (plan?.backup.completedAt ?? asked),
    bytes: plan?.totalBytes ?? 0,
    restoreSeconds: 0,
    checkSeconds: 0,
    checked: 0,
    isComplete: false,
    faults: [],
  };
}

/**
 * The fault of the target, as a sentence.
 * @throws PublicError for an error that says nothing about the target.
 */
async function faultIn(
  { keeper }: VerifyingParts,
  error: unknown,
  { archive, target, plan }: { archive: string; target: RestoreTarget; plan: RestorePlan | null },
): Promise<string> {
  if (!(error instanceof RestoreFault || error instanceof PlanRefused)) throw asPublic(error);
  const state = await keeper.archive(archive);
  const wanted = plan?.backup.id ?? ("backup" in target ? target.backup : null);
  const isThere = wanted === null || state?.backups.some(({ id }) => id === wanted) === true;
  const isInWindow = !("at" in target) || target.at >= (state?.log?.earliestRestoreTime ?? "9999");
  if (!isThere || !isInWindow)
    throw new PublicError("The backup is not kept any more, so it was not verified.", error);
  return error.message;
}

function asPublic(error: unknown): PublicError {
  return error instanceof PublicError
    ? error
    : new PublicError("The restored copy could not be checked.", error);
}
