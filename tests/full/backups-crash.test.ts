// The whole crash matrix of backups: a backup, a restore, a clone, a verification and a deletion, stopped at every step, with
// every victim.
import { afterAll, beforeAll, test } from "bun:test";
import {
  BACKUP_SCENARIOS,
  begin,
  CLONE_SCENARIOS,
  DELETION_SCENARIOS,
  end,
  interruptBackup,
  interruptClone,
  interruptDeletion,
  interruptRestore,
  interruptVerification,
  RESTORE_SCENARIOS,
  VERIFICATION_SCENARIOS,
} from "../crash/backups.ts";
import { shareOf } from "../crash/share.ts";

beforeAll(begin);
afterAll(end);

test.each(shareOf(BACKUP_SCENARIOS))("a backup at %s survives a kill of %s", interruptBackup);

test.each(shareOf(RESTORE_SCENARIOS))("a restore at %s survives a kill of %s", interruptRestore);

test.each(shareOf(CLONE_SCENARIOS))("a clone at %s survives a kill of %s", interruptClone);

test.each(shareOf(VERIFICATION_SCENARIOS))(
  "a verification at %s survives a kill of %s",
  interruptVerification,
);

test.each(shareOf(DELETION_SCENARIOS))("a deletion at %s survives a kill of %s", interruptDeletion);
