// Checks the unpacked data of a Redis or Valkey. Nothing has to be replayed: an engine starts with it as it is, and one
// that keeps a log begins its log with the snapshot.
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PublicError } from "../../../lib/errors.ts";
import { readForeign } from "../../../lib/foreign-file.ts";
import { RestoreFault, type Recovered, type RestoreContext } from "../../backup.ts";
import { compareVersions, firstNumbers } from "../../versions.ts";
import { runToEnd } from "../../throw-away.ts";
import { dataFiles, LOG_FOLDER, SNAPSHOT } from "../persistence.ts";
import { loadKeys } from "./load.ts";

/** The list of a log's files, as `file NAME seq NUMBER type KIND` a line. */
const MANIFEST = join(LOG_FOLDER, "appendonly.aof.manifest");

/** Far longer than the list of any log, which has a line for each file. */
const MAX_MANIFEST_BYTES = 1024 ** 2;

/** See `EngineBackup.recover`. */
export async function recover(context: RestoreContext): Promise<Recovered> {
  assertFits(context);
  assertWhole(context);
  await assertReadable(context);
  return { reachedLsn: null, lastCommitAt: null };
}

/** The formats of snapshots and logs go one way: an older version cannot read those of a newer one. */
function assertFits({ installed, facts: { engine } }: RestoreContext): void {
  const made = `${engine.name} ${engine.version}`;
  const here = `${installed.name} ${installed.version}`;
  if (engine.name !== installed.name)
    throw new RestoreFault(`The backup was made by ${made}, which ${here} cannot take over.`);
  const [newest, ours] = [engine.version, installed.version].map((version) => firstNumbers(version, 2));
  if (compareVersions(ours ?? "", newest ?? "") < 0)
    throw new RestoreFault(`The backup was made by ${made}, whose files the older ${here} cannot read.`);
}

function assertWhole({ dataDir }: RestoreContext): void {
  const files = dataFiles({ dataDir });
  if (files.length === 0) throw new RestoreFault("The backup is incomplete: it holds no keys.");
  if (!files.includes(LOG_FOLDER)) return;
  const listed = filesOfLog(join(dataDir, MANIFEST));
  const missing = listed.find((name) => !existsSync(join(dataDir, LOG_FOLDER, name)));
  if (listed.length === 0)
    throw new RestoreFault("The backup is incomplete: the list of its log is missing.");
  if (missing !== undefined)
    throw new RestoreFault(
      `The backup is incomplete: the part "${basename(missing)}" of its log is missing.`,
    );
}

/** The names in a log's list; none when there is no list. */
function filesOfLog(path: string): string[] {
  const text = readForeign(path, MAX_MANIFEST_BYTES);
  return [...text.matchAll(/^file (\S+) seq /gm)].map(([, name = ""]) => name);
}

/** The program that checks snapshots reads their checksums without memory for the keys; a log has to be loaded. */
async function assertReadable(context: RestoreContext): Promise<void> {
  const { dataDir, installed } = context;
  const checker = join(dirname(installed.program), `${installed.name}-check-rdb`);
  if (!existsSync(join(dataDir, SNAPSHOT)) || !existsSync(checker)) return void (await loadKeys(context));
  const argv = [...(installed.loader ?? []), checker, join(dataDir, SNAPSHOT)];
  const { code, said } = await runToEnd(context, argv);
  if (code === 0) return;
  if (code === null)
    throw new PublicError("The check of the backup was ended before it was done.", new Error(said));
  throw new RestoreFault("The backup is damaged: its snapshot cannot be read.", new Error(said));
}
