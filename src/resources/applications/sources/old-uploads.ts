// Drops the uploads that nothing needs any more, so that a repository does not grow with each of them.
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext } from "../../kind.ts";
import { commitsInUse } from "../deployments/store.ts";
import { KEPT_RELEASES } from "../environments/releases.ts";
import { environmentsOf } from "../environments/store.ts";
import { recordRepository } from "../storage.ts";
import { deployedUploads } from "./deployed-uploads.ts";

/** A younger upload may wait for the row of its deployment. */
const YOUNG_MS = 60 * 60_000;

/** Room is made at most so often, however many requests are refused. */
const MAKE_ROOM_MS = 5 * 60_000;

/** When room was made last, in this process. */
const roomMade = new WeakMap<Repository, number>();

/**
 * Drops all uploads but the young ones, those of deployments that go on, of the latest deployment and of the kept releases
 * of each environment, and the newest of each.
 */
export async function dropOldUploads(
  { db }: KindContext,
  repository: Repository,
  applicationId: string,
): Promise<void> {
  // An upload of which a deployment begins after these readings is young, or is named by its hash in that moment.
  const uploads = await repository.uploads();
  const environments = await environmentsOf(db, [applicationId]);
  const commits = new Set(await commitsInUse(db, applicationId, KEPT_RELEASES));
  const deployed = await deployedUploads(db, uploads);
  const newest = new Set(environments.map(({ id }) => deployed.findLast(({ folder }) => folder === id)?.ref));
  const named = new Set(deployed.map(({ ref }) => ref));
  const old = uploads.filter(
    ({ ref, hash, at }) => !isYoung(at, named.has(ref)) && !commits.has(hash) && !newest.has(ref),
  );
  await repository.changeUploads(old);
}

/** A clock that was ahead leaves uploads of the future, which would else be young for as long. */
function isYoung(at: Date, isDeployed: boolean): boolean {
  const ageMs = Date.now() - at.getTime();
  return ageMs <= YOUNG_MS && (ageMs >= -YOUNG_MS || !isDeployed);
}

/** Drops old uploads after a new one, which nobody waits for. */
export function tidyUploads(context: KindContext, repository: Repository, applicationId: string): void {
  const tidy = async () => {
    await dropOldUploads(context, repository, applicationId);
    if ((await repository.tidy()) && !repository.isRemoved) await recordRepository(context, applicationId);
  };
  tidy().catch((error: unknown) =>
    context.log.warn({ error, applicationId }, "a repository could not be tidied"),
  );
}

/** Drops old uploads of a repository that has its bound; the next upload then packs what is left. */
export async function dropWhenFull(
  context: KindContext,
  repository: Repository,
  applicationId: string,
): Promise<void> {
  if ((await repository.roomBytes()) <= 0) await dropOldUploads(context, repository, applicationId);
}

/** Makes room where a repository or the storage is full, which may take minutes, so that the next request has it. */
export function makeRoom(context: KindContext, repository: Repository, applicationId: string): void {
  if (Date.now() - (roomMade.get(repository) ?? 0) < MAKE_ROOM_MS) return;
  roomMade.set(repository, Date.now());
  const make = async () => {
    await dropOldUploads(context, repository, applicationId);
    await repository.collectGarbage();
    if (!repository.isRemoved) await recordRepository(context, applicationId);
  };
  make().catch((error: unknown) =>
    context.log.warn({ error, applicationId }, "a full repository could not be tidied"),
  );
}
