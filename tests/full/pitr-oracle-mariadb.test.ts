// Restores of a MariaDB to whole seconds, compared with a model: the transactions of its binary log up to then by their
// GTIDs, and none else.
import { expect, test } from "bun:test";
import { randomOf } from "../crash/random.ts";
import { BinlogHistory } from "../support/engines/binlog-oracle.ts";

/** `bench/pitr-oracle-mariadb` restores more. */
const INSTANTS = 8;
const SECONDS = 10;
const TIMEOUT_MS = 600_000;

test(
  "seconds of the history of a MariaDB have the GTIDs that its log has up to then",
  async () => {
    const history = await BinlogHistory.make(SECONDS, randomOf(20_261_123));
    try {
      for (const second of history.seconds(INSTANTS)) {
        const restored = await history.restoredAt(second);
        expect({ second, gtids: history.gtidsOf(restored) }).toEqual({
          second,
          gtids: history.expectedAt(second),
        });
        expect(restored.changes).toBe(restored.numbers.length);
      }
    } finally {
      await history.close();
    }
  },
  TIMEOUT_MS,
);
