// How a Redis or Valkey is backed up and restored: a copy of its snapshot, or of the log of a stopped engine.
import type { CacheSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { ColdCopy, CopyCommand, EngineBackup, HotCopy } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { tarCreate, tarExtract } from "../../tar.ts";
import { dataFiles, removeSnapshot, SNAPSHOT } from "../persistence.ts";
import { recover } from "./recover.ts";
import { save } from "./save.ts";
import { verify } from "./verify.ts";

export const backup: EngineBackup<CacheSpec> = {
  log: null,
  begin,
  cold,
  unpack: (_, dataDir) => tarExtract(dataDir),
  recover,
  verify,
};

/** A snapshot is renamed into its place, so its copy is whole even when the engine makes another meanwhile. */
async function begin(
  context: EngineContext<CacheSpec>,
  _backup: string,
  signal: AbortSignal,
): Promise<HotCopy> {
  const startedAt = new Date().toISOString();
  const completedAt = await save(context, signal);
  const users = context.spec.users.map(({ name }) => name);
  const facts = { format: "tar" as const, startedAt, completedAt, postgres: null, users, databases: [] };
  return {
    format: facts.format,
    copy: copyOf(context, [SNAPSHOT]),
    end: async () => ({ facts, rest: [] }),
    close: async () => removeSnapshot(context),
  };
}

/** A cache that was killed goes on with the same files as its copy. */
async function cold(context: EngineContext<CacheSpec>): Promise<ColdCopy> {
  const files = dataFiles(context.paths);
  if (files.length === 0) throw new PublicError("The cache has saved nothing since it was made.");
  const now = new Date().toISOString();
  const facts = { format: "tar" as const, startedAt: now, completedAt: now, postgres: null };
  // A log is not read beside a snapshot, which a killed host may have left.
  const leftOut = files.includes(SNAPSHOT) ? ["temp-*.rdb"] : ["temp-*.rdb", SNAPSHOT];
  return { copies: [copyOf(context, files)], leftOut, facts };
}

function copyOf({ paths }: EngineContext<CacheSpec>, files: string[]): CopyCommand {
  const argv = [...tarCreate(paths.dataDir), "--", ...files];
  return { argv, okExitCodes: [0] };
}
