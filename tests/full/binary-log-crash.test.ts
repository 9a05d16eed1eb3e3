// The crash matrix of a MariaDB's log: shipped, restored, verified and deleted, stopped at every step, with every victim.
import { afterAll, beforeAll, test } from "bun:test";
import { LogMatrix, logScenarios } from "../crash/kept-log.ts";
import { shareOf } from "../crash/share.ts";

const scenarios = logScenarios("mariadb");
const matrix = new LogMatrix("mariadb");

beforeAll(() => matrix.begin());
afterAll(() => matrix.end());

test.each(shareOf(scenarios.shipping))("a log shipped at %s survives a kill of %s", (place, victim) =>
  matrix.interruptShipping(place, victim),
);

test("all that was written over these kills is restored", () => matrix.expectAllRestored());

test.each(shareOf(scenarios.restore))("a restore at %s survives a kill of %s", (place, victim) =>
  matrix.interruptRestore(place, victim),
);

test.each(shareOf(scenarios.verification))("a verification at %s survives a kill of %s", (place, victim) =>
  matrix.interruptVerification(place, victim),
);

test.each(shareOf(scenarios.retention))("a retention at %s survives a kill of %s", (place, victim) =>
  matrix.interruptRetention(place, victim),
);

test.each(shareOf(scenarios.deletion))("a deletion at %s survives a kill of %s", (place, victim) =>
  matrix.interruptDeletion(place, victim),
);
