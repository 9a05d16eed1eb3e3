// Counts how many restores of a MariaDB to whole seconds have exactly the GTIDs that its binary log has up to then: at any
// second, at the first that can be restored, asleep, after the last commit.
import { randomOf } from "../tests/crash/random.ts";
import { BinlogHistory } from "../tests/support/engines/binlog-oracle.ts";
import { runWithoutPilvi } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printFloor, printRow } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const INSTANTS = countOption(50);

await runWithoutPilvi(
  `pitr-oracle-mariadb: ${INSTANTS} seconds of a history of a MariaDB`,
  async ({ atEnd }) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    console.log(`seed ${seed}`);
    const history = await BinlogHistory.make(INSTANTS, randomOf(seed));
    atEnd(() => history.close());
    const times: number[] = [];
    let equal = 0;
    for (const second of history.seconds(INSTANTS)) {
      const startedAt = performance.now();
      const restored = await history.restoredAt(second);
      times.push(performance.now() - startedAt);
      const [found, expected] = [history.gtidsOf(restored), history.expectedAt(second)];
      const isExact =
        restored.changes === restored.numbers.length &&
        found.length === expected.length &&
        found.every((gtid, index) => gtid === expected[index]);
      if (isExact) equal += 1;
      else
        console.log(
          `second ${second}: ${found.length} of ${expected.length} commits, up to 0-1-${found.at(-1)}`,
        );
    }
    printColumns("commits", "exact", "restore");
    const cells = [String(history.commits), `${equal} of ${times.length}`, milliseconds(median(times))];
    printRow("MariaDB", ...cells);
    const share = equal / times.length;
    printFloor("seconds with exactly the GTIDs up to then", share, 1, (value) => `${value * 100} %`);
  },
);
