// Measures the wake of a sleeping application together with its sleeping Postgres: a request sent to its answer, which
// needs a row of the database, beside the wakes of each alone.
import { localDriver } from "../src/drivers/local/index.ts";
import { hostSocket } from "../src/host/os/layout.ts";
import { createLog } from "../src/lib/log.ts";
import { createDatabase } from "../tests/support/pilvi/databases.ts";
import { type Files, TestApplication } from "../tests/support/pilvi/applications.ts";
import { until } from "../tests/support/pilvi/pilvi.ts";
import { runBench } from "./support/bench.ts";
import { firstAnswer } from "./support/clients.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printTarget, printTimes, times } from "./support/report.ts";
import { POSTGRES_SLEEPER } from "./support/sleepers.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(30);
/** Of the slower of both alone. */
const TARGET = 1.2;

/** Connects to its database with the first request that needs it, as most frameworks do. */
const FILES: Files = {
  "bunfig.toml": "# This program runs on Bun.\n",
  "package.json": JSON.stringify({ name: "guests", private: true, scripts: { start: "bun server.ts" } }),
  "server.ts": `
    import { SQL } from "bun";
    let db;
    Bun.serve({
      port: Number(process.env.PORT),
      hostname: "127.0.0.1",
      async fetch() {
        if (process.env.DATABASE_URL === undefined) return new Response("none");
        db ??= new SQL(process.env.DATABASE_URL, { max: 1 });
        const [row] = await db\`select 42 as answer\`;
        return new Response(String(row.answer));
      },
    });
  `,
};

await runBench("application-wake-database: request sent to its answer", async ({ pilvi }) => {
  const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("bench", "error") });
  const application = await TestApplication.create(pilvi, "Guests");
  await application.deploy(FILES);
  const cluster = await POSTGRES_SLEEPER.create(pilvi);
  const schema = await createDatabase(pilvi, cluster.id, "guests");
  await pilvi.api("PATCH", `/environments/${application.environmentId}`, { database_schema_id: schema });
  await until("the application has the database", async () => (await application.text()) === "42");
  const { attributes, id } = await application.environment();
  const instance = (await driver.routes()).find((route) => route.id === id)?.instances[0] ?? "";

  const suspend = async (...ids: string[]) => {
    for (const each of ids) {
      await driver.suspend(each);
      await until(`${each} sleeps`, async () => (await driver.observe(each)).state === "asleep");
    }
  };
  const answered = async () => {
    const url = `http://127.0.0.1:${pilvi.env.PILVI_EDGE_HTTP}/`;
    const startedAt = performance.now();
    const text = await (await fetch(url, { headers: { host: attributes.vanity_domain } })).text();
    if (text !== "42") throw new Error(`the application answered ${text}`);
    return performance.now() - startedAt;
  };

  const [applicationMs, databaseMs, bothMs]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await suspend(instance);
    applicationMs.push(await answered());
    await suspend(instance, cluster.id);
    const startedAt = performance.now();
    databaseMs.push((await firstAnswer(cluster)) - startedAt);
    await suspend(instance, cluster.id);
    bothMs.push(await answered());
  }
  const slower = median(applicationMs) > median(databaseMs) ? applicationMs : databaseMs;
  printColumns("median", "p99", "x median", "x p99");
  printTimes("the application, whose Postgres is awake", applicationMs, slower);
  printTimes("the Postgres alone", databaseMs, slower);
  printTimes("both asleep", bothMs, slower);
  printTarget("both beside the slower alone", median(bothMs) / median(slower), TARGET, times);
});
