// The file that says that everything is being restored into this data directory.
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { restoreStateSchema, type RestoreState } from "../../contracts/restore-all.ts";
import { ContractError, readJsonAs } from "../../contracts/read.ts";
import { keeperDir } from "../../host/os/layout.ts";
import { codeOf, Refusal } from "../../lib/errors.ts";
import { readIfPresent, replaceFile, syncFile } from "../../lib/files.ts";

const FILE = "restore-all.json";

/** What a folder has before anything was restored: locks, and the top of a file system. */
const HARMLESS = /\.lock$|^lost\+found$|^missing-engines$/;

/** How far the restore is; null when none is under way. A file that a power cut left empty says that it has begun. */
export function readRestoreState(dataDir: string): RestoreState | null {
  const text = readIfPresent(join(dataDir, FILE));
  if (text === null) return null;
  try {
    return readJsonAs(restoreStateSchema, text, `The file ${FILE}`);
  } catch (error) {
    if (text !== "" && error instanceof ContractError) throw new Refusal(error.message, error);
    return { stage: "store", startedAt: new Date().toISOString() };
  }
}

export async function writeRestoreState(dataDir: string, state: RestoreState): Promise<void> {
  const path = join(dataDir, FILE);
  replaceFile(path, `${JSON.stringify(state)}\n`, 0o600);
  await syncFile(path);
}

export function endRestoreState(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** @throws Refusal while the store is not there yet: a start would make an empty one, or miss all data. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (readRestoreState(dataDir)?.stage !== "store") return;
  throw new Refusal(
    `A restore into ${dataDir} has not ended. Run the same \`pilvi restore-all\` again, which goes on.`,
  );
}

/** @throws Refusal when the data directory has anything in it but the key, engines, and the backups themselves. */
export function refuseUsedFolder({ dataDir, keyFile, enginesDir }: Config): void {
  const own = [keyFile, enginesDir, keeperDir(dataDir)].filter((path) => dirname(path) === dataDir);
  const allowed = new Set(own.map((path) => basename(path)));
  const found = namesIn(dataDir).filter((name) => !allowed.has(name) && !HARMLESS.test(name));
  if (found.length === 0) return;
  throw new Refusal(
    `The data directory ${dataDir} is not empty (${found.slice(0, 3).join(", ")}). Name an empty one with PILVI_DATA_DIR, which may have the key file in it.`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new Refusal(`The data directory ${folder} cannot be read.`, error);
  }
}
