// The scheduler of a deployed application: once a minute for all replicas, never twice in a minute through kills and
// releases, and never while the application sleeps. In the release of these tests, a minute takes a second.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Driver } from "../../../src/drivers/driver.ts";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket } from "../../../src/host/os/layout.ts";
import { createLog } from "../../../src/lib/log.ts";
import type {
  EnvironmentLogEntry,
  EnvironmentLogsDocument,
} from "../../../src/resources/applications/logs/schema.ts";
import type { BackgroundProcessResource } from "../../../src/sdk/index.ts";
import { bunServer, TestApplication, type Files } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

/** Tells the time of the machine sixty times as fast. */
const DATE = `#!/bin/sh
echo $(($(/bin/date +%s%N) / 1000000 * 60 / 1000))
`;

const SLEEP = `#!/bin/sh
exec /bin/sleep $(awk "BEGIN { print $1 / 60 }")
`;

/** Says that a run has begun and that it has ended, each with its minute. */
const ARTISAN = `<?php
$minute = intdiv((int) (microtime(true) * 60), 60);
echo "began $argv[1] $minute\\n";
RUN
echo "ended $minute\\n";
`;

let pilvi: TestPilvi;
let application: TestApplication;
let driver: Driver;
let instance: string;
/** Entries of the log before a test. */
let from: string;

beforeAll(async () => {
  pilvi = await startPilvi();
  driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  application = await TestApplication.create(pilvi);
  const environment = `/environments/${application.environmentId}`;
  await pilvi.api("PATCH", environment, { shutdown_timeout: 5 });
  const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${environment}/instances`);
  instance = `/instances/${body.data[0]?.id}`;
  await schedule(true);
  const { attributes } = await application.deploy(laravel());
  expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
}, 60_000);

beforeEach(() => {
  from = new Date().toISOString();
});

afterAll(async () => await pilvi.close());

/** What Pilvi knows Laravel by, and the programs that the scheduler runs. @param run lines of PHP. */
function laravel(run = ""): Files {
  return {
    "composer.json": JSON.stringify({ require: { "laravel/framework": "^12.0" } }),
    // Packages would come from other machines.
    "railpack.json": JSON.stringify({ steps: { install: { commands: ["chmod +x vendor/bin/*"] } } }),
    "public/index.php": '<?php echo "shop";',
    artisan: ARTISAN.replace("RUN", run),
    "vendor/bin/date": DATE,
    "vendor/bin/sleep": SLEEP,
  };
}

async function schedule(isOn: boolean): Promise<void> {
  expect(await pilvi.api("PATCH", instance, { uses_scheduler: isOn })).toMatchObject({ status: 200 });
}

async function entries(query: string): Promise<EnvironmentLogEntry[]> {
  const search = new URLSearchParams({ query, from, per_page: "300" });
  const path = `/environments/${application.environmentId}/logs?${search}`;
  return (await pilvi.api<EnvironmentLogsDocument>("GET", path)).body.data;
}

/** The minutes of the runs that began, in the order of the log. */
async function runs(): Promise<number[]> {
  const begun = await entries("began schedule:run");
  return begun.map(({ message }) => Number(message.split(" ").at(-1)));
}

/** `began` and `ended` of runs, in the order of the log. */
async function steps(): Promise<string[]> {
  const words = (await entries("e")).map(({ message }) => /^(began|ended) .*\d$/.exec(message)?.[1]);
  return words.filter((word) => word !== undefined);
}

async function untilRuns(count: number): Promise<void> {
  await until(`there are ${count} runs`, async () => (await runs()).length >= count);
}

/** Each minute has at most one run, and no run begins before the former has ended. */
async function expectOneAtATime(): Promise<void> {
  const minutes = await runs();
  expect(minutes).toEqual([...new Set(minutes)].sort((a, b) => a - b));
}

async function scheduler(): Promise<BackgroundProcessResource | undefined> {
  const { body } = await pilvi.api<{ data: BackgroundProcessResource[] }>(
    "GET",
    `${instance}/background-processes`,
  );
  return body.data.find(({ attributes }) => attributes.type === "scheduler");
}

function processFolders(): string[] {
  return readdirSync(join(pilvi.dataDir, "instances")).filter((name) => name.startsWith("proc-"));
}

/** The ids of the instances of the route: the server first. */
async function instances(): Promise<string[]> {
  return (await driver.routes()).find(({ id }) => id === application.environmentId)?.instances ?? [];
}

test("the scheduled command runs once a minute, and its output is in the log", async () => {
  await untilRuns(4);
  const minutes = await runs();
  expect(minutes.slice(1).map((minute, at) => minute - (minutes[at] ?? 0))).not.toContain(0);
  await expectOneAtATime();
  expect(await scheduler()).toMatchObject({ meta: { running: 1, last_error: null } });
}, 60_000);

test("replicas have one scheduler together", async () => {
  await pilvi.api("PATCH", instance, { min_replicas: 3, max_replicas: 3 });
  await until("all run", () => processFolders().length === 4);
  await untilRuns(3);
  await expectOneAtATime();
  await pilvi.api("PATCH", instance, { scaling_type: "none" });
  await until("one is left", () => processFolders().length === 2);
}, 60_000);

test.each([["control"], ["host"]] as const)(
  "a kill of the %s has no minute run twice",
  async (victim) => {
    await untilRuns(1);
    for (let killed = 1; killed <= 3; killed += 1) {
      pilvi.kill(victim);
      await pilvi.untilReady();
      await untilRuns(killed * 2);
    }
    await expectOneAtATime();
  },
  60_000,
);

test("a kill of the scheduler itself has no minute run twice", async () => {
  const [, id = ""] = await instances();
  for (let killed = 1; killed <= 3; killed += 1) {
    await untilRuns(killed * 2);
    for (const pid of pilvi.enginePids(id)) process.kill(pid, "SIGKILL");
  }
  await untilRuns(8);
  await expectOneAtATime();
}, 60_000);

/** How often runs said a word. */
async function countOf(word: string): Promise<number> {
  return (await steps()).filter((each) => each === word).length;
}

test("a release waits for the end of a run, and runs do not overlap", async () => {
  await application.deploy(laravel("usleep(2_500_000);"));
  await until("a run is under way", async () => (await countOf("began")) > (await countOf("ended")));
  await application.deploy(laravel());
  const before = await countOf("ended");
  await until("the next release runs", async () => (await countOf("ended")) > before + 2);
  const order = await steps();
  // Each run has ended before the next began.
  expect(order.filter((word, at) => word === order[at - 1])).toEqual([]);
  await expectOneAtATime();
}, 60_000);

test("a run that fails is an error in the log, and the next minute has a run", async () => {
  await application.deploy(laravel("exit(3);"));
  const failed = "php artisan schedule:run ended with the exit code 3.";
  await until("two runs have failed", async () => (await entries(failed)).length >= 2);
  expect((await entries(failed))[0]).toMatchObject({ level: "error", type: "application", message: failed });
  const before = await countOf("ended");
  await application.deploy(laravel());
  await until("the next release runs", async () => (await countOf("ended")) > before);
}, 60_000);

test("nothing runs while the environment sleeps, and its wake lets the scheduler run again", async () => {
  await until("the release has its processes alone", async () => {
    return (await instances()).toSorted().join() === processFolders().toSorted().join();
  });
  const ids = await instances();
  await Promise.all(ids.map(async (id) => await driver.suspend(id)));
  // What a run of before has said may come to the log later, so its own minute counts.
  const asleepAt = Math.floor(Date.now() / 1_000);
  await until("minutes have passed", () => Date.now() / 1_000 > asleepAt + 3);
  const later = async () => (await runs()).filter((minute) => minute > asleepAt);
  expect(await later()).toEqual([]);
  expect(await application.text()).toBe("shop");
  await until("it runs again", async () => (await later()).length >= 2);
  await expectOneAtATime();
}, 60_000);

test("a release without scheduled work has no scheduler, and the setting says so", async () => {
  const { attributes } = await application.deploy(bunServer("plain"));
  expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
  await until("the scheduler is gone", () => processFolders().length === 1);
  expect(await scheduler()).toMatchObject({ meta: { running: 0 } });
  await schedule(false);
  const refused = await pilvi.api("PATCH", instance, { uses_scheduler: true });
  expect(refused).toMatchObject({ status: 422, body: { errors: { uses_scheduler: [expect.any(String)] } } });
}, 60_000);
