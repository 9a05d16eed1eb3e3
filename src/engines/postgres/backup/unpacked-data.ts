// Checks unpacked data before a Postgres may start over it: whether it is the backup that its facts describe.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BackupFacts } from "../../../contracts/keeper.ts";
import { readForeign, writeForeign } from "../../../lib/foreign-file.ts";
import { isFolderItself } from "../../../lib/files.ts";
import { RestoreFault, type RestoreContext } from "../../backup.ts";
import { firstNumbers } from "../../versions.ts";
import { readControlFile, type ControlFile } from "../control-file.ts";
import { parseLabel } from "./label.ts";
import { lsnText } from "./lsn.ts";

/** The part of the facts that is about a Postgres. */
export type PostgresFacts = NonNullable<BackupFacts["postgres"]>;

/** Files that steer a start. The restore alone says how this data is started. */
const STEERING = [
  "backup_label",
  "backup_label.old",
  "tablespace_map",
  "tablespace_map.old",
  "recovery.signal",
  "standby.signal",
  "postmaster.pid",
  "postmaster.opts",
];

const MAX_VERSION_BYTES = 16;

/** Checks the data, writes its label, and removes the slots of the source. @throws RestoreFault */
export function adopt(context: RestoreContext): { facts: PostgresFacts; control: ControlFile } {
  const { dataDir, account, installed, facts: all } = context;
  const facts = all.postgres;
  if (facts === null) throw new RestoreFault("The backup is none of a Postgres.");
  const major = firstNumbers(installed.version, 1);
  const control = readControlFile(dataDir);
  if (control === null || !isFolderItself(join(dataDir, "pg_wal")))
    throw new RestoreFault("The backup is not complete: its data lacks the files that a start needs.");
  if (readForeign(join(dataDir, "PG_VERSION"), MAX_VERSION_BYTES).trim() !== major)
    throw new RestoreFault(`The data of the backup is not that of a Postgres ${major}.`);
  if (control.segmentBytes !== facts.segmentBytes || readdirSync(join(dataDir, "pg_tblspc")).length > 0)
    throw new RestoreFault("The data of the backup is not as its description says.");
  removeSteering(dataDir);
  emptyFolder(join(dataDir, "pg_replslot"));
  if (all.isHot) writeForeign(join(dataDir, "backup_label"), labelOf(facts), account);
  else checkStopped(facts, control);
  return { facts, control };
}

/** Removes what steered a former start, so that the next start is like any other. */
export function removeSteering(dataDir: string): void {
  for (const name of STEERING) rmSync(join(dataDir, name), { recursive: true, force: true });
}

/** @throws RestoreFault when the label is not that of this backup. */
function labelOf(facts: PostgresFacts): string {
  const label = parseLabel(facts.label ?? "");
  const isRight =
    label?.startLsn === facts.startLsn &&
    label.startSegment === facts.startSegment &&
    label.timeline === facts.timeline;
  if (!isRight || facts.label === null)
    throw new RestoreFault("The backup has no label that says where its log begins.");
  return facts.label;
}

/** @throws RestoreFault when the data of a stopped Postgres is not what was copied. */
function checkStopped(facts: PostgresFacts, control: ControlFile): void {
  const isRight =
    facts.label === null &&
    control.isShutDown &&
    control.timeline === facts.timeline &&
    lsnText(control.checkpoint) === facts.checkpointLsn;
  if (!isRight)
    throw new RestoreFault("The data of the backup is not that of a Postgres that ended cleanly.");
}

/** A folder that is missing is made by nobody, so that the start says what is missing. */
function emptyFolder(path: string): void {
  if (!isFolderItself(path)) return;
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
}
