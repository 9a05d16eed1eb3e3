// Counts how many restores to instants have exactly what was committed by then, for each version of Postgres: at any
// instant, exactly at a commit, a microsecond before a commit, asleep, after the last commit.
import { PitrHistory, randomOf } from "../tests/support/engines/pitr-oracle.ts";
import { cleanUp, engines } from "../tests/support/engines/postgres-cluster.ts";
import { runWithoutPilvi } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printFloor, printRow } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const INSTANTS = countOption(100);

await runWithoutPilvi(
  `pitr-oracle: ${INSTANTS} instants of a history of each version of Postgres`,
  async ({ atEnd }) => {
    atEnd(cleanUp);
    printColumns("commits", "exact", "restore");
    let exact = 0;
    let all = 0;
    for (const [major, installed] of await engines()) {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const history = await PitrHistory.make(installed, randomOf(seed));
      const times: number[] = [];
      let equal = 0;
      for (const { kind, at } of history.instants(INSTANTS)) {
        const startedAt = performance.now();
        const { xids, changes } = await history.restoredAt(at);
        times.push(performance.now() - startedAt);
        const expected = history.expectedAt(at);
        const isExact = changes === xids.length && xids.join() === expected.join();
        if (isExact) equal += 1;
        else
          console.log(
            `Postgres ${major}, seed ${seed}, ${kind}: ${xids.length} of ${expected.length} commits`,
          );
      }
      const cells = [String(history.commits), `${equal} of ${times.length}`, milliseconds(median(times))];
      printRow(`Postgres ${major}`, ...cells);
      exact += equal;
      all += times.length;
    }
    printFloor("instants with exactly what was committed", exact / all, 1, (share) => `${share * 100} %`);
  },
);
