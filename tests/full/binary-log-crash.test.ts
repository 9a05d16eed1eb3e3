// The crash matrix of a MariaDB's log: shipped, restored, verified and deleted, stopped at every step, with every victim.
import { afterAll, beforeAll, test } from "bun:test";
import {
  begin,
  DELETION_SCENARIOS,
  end,
  expectAllRestored,
  interruptDeletion,
  interruptRestore,
  interruptRetention,
  interruptShipping,
  interruptVerification,
  RESTORE_SCENARIOS,
  RETENTION_SCENARIOS,
  SHIP_SCENARIOS,
  VERIFICATION_SCENARIOS,
} from "../crash/binary-log.ts";

beforeAll(begin);
afterAll(end);

test.each(SHIP_SCENARIOS)("a log shipped at %s survives a kill of the %s", interruptShipping);

test("all that was written over these kills is restored", expectAllRestored);

test.each(RESTORE_SCENARIOS)("a restore at %s survives a kill of the %s", interruptRestore);

test.each(VERIFICATION_SCENARIOS)("a verification at %s survives a kill of the %s", interruptVerification);

test.each(RETENTION_SCENARIOS)("a retention at %s survives a kill of the %s", interruptRetention);

test.each(DELETION_SCENARIOS)("a deletion at %s survives a kill of the %s", interruptDeletion);
