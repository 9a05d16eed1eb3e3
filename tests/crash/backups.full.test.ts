// Some scenarios of the crash matrix of backups; the long suite plays all of them.
import { afterAll, beforeAll, test } from "bun:test";
import { begin, end, interruptBackup, interruptRestore } from "./backups.ts";

beforeAll(begin);
afterAll(end);

test.each([
  ["host.backup.copied", "host"],
  ["host.backup.ended", "engine"],
  ["host.backup.stored", "keeper"],
] as const)("a backup at %s survives a kill of %s", interruptBackup);

test.each([
  ["host.restore.unpacked", "host"],
  ["host.restore.planned", "keeper"],
] as const)("a restore at %s survives a kill of %s", interruptRestore);
