// The whole crash matrix of backups: a backup, a restore and a verification, stopped at every step, with every victim.
import { afterAll, beforeAll, test } from "bun:test";
import {
  BACKUP_SCENARIOS,
  begin,
  end,
  interruptBackup,
  interruptRestore,
  interruptVerification,
  RESTORE_SCENARIOS,
  VERIFICATION_SCENARIOS,
} from "../crash/backups.ts";

beforeAll(begin);
afterAll(end);

test.each(BACKUP_SCENARIOS)("a backup at %s survives a kill of the %s", interruptBackup);

test.each(RESTORE_SCENARIOS)("a restore at %s survives a kill of the %s", interruptRestore);

test.each(VERIFICATION_SCENARIOS)("a verification at %s survives a kill of the %s", interruptVerification);
