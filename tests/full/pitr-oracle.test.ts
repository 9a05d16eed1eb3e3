// Restores to instants, compared with a model: the commits up to then in the order of the log, and none else.
import { afterAll, expect, test } from "bun:test";
import { PitrHistory, randomOf } from "../support/engines/pitr-oracle.ts";
import { cleanUp, engines } from "../support/engines/postgres-cluster.ts";

/** With each kind of instant at least once; `bench/pitr-oracle` restores more. */
const INSTANTS = 10;
const TIMEOUT_MS = 600_000;

afterAll(cleanUp);

test.each(await engines())(
  "instants of the history of a Postgres %s have what was committed by then",
  async (_, installed) => {
    const history = await PitrHistory.make(installed, randomOf(20_261_123));
    for (const { kind, at } of history.instants(INSTANTS)) {
      const { xids, changes } = await history.restoredAt(at);
      expect({ kind, xids }).toEqual({ kind, xids: history.expectedAt(at) });
      expect(changes).toBe(xids.length);
    }
  },
  TIMEOUT_MS,
);
