// An application that sleeps, wakes for its scheduled work and sleeps again, in minutes of the real clock.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket } from "../../src/host/os/layout.ts";
import { createLog } from "../../src/lib/log.ts";
import type { EnvironmentLogsDocument } from "../../src/resources/applications/logs/schema.ts";
import { TestApplication } from "../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";

const MINUTES_MS = 200_000;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
}, 60_000);

afterAll(async () => await pilvi.close());

test(
  "an environment wakes after its interval, runs its scheduled work and sleeps again by itself",
  async () => {
    const application = await TestApplication.create(pilvi);
    const environment = `/environments/${application.environmentId}`;
    await pilvi.api("PATCH", environment, { sleep_timeout: 1, hibernation_wake_up_interval: 1 });
    const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${environment}/instances`);
    await pilvi.api("PATCH", `/instances/${body.data[0]?.id}`, { uses_scheduler: true });
    const { attributes } = await application.deploy({
      "composer.json": JSON.stringify({ require: { "laravel/framework": "^12.0" } }),
      // Packages would come from other machines.
      "railpack.json": JSON.stringify({ steps: { install: { commands: ["true"] } } }),
      "public/index.php": '<?php echo "shop";',
      artisan: '<?php echo "ran ", intdiv(time(), 60), " at ", time() % 60, "\\n";',
    });
    expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
    const runs = async () => {
      const path = `${environment}/logs?type=application&query=ran`;
      return (await pilvi.api<EnvironmentLogsDocument>("GET", path)).body.data.map(({ message }) => message);
    };
    const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
    const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
    const [server = ""] = route?.instances ?? [];
    const isAsleep = async () => (await driver.observe(server)).state === "asleep";
    await until("it sleeps by itself", isAsleep, MINUTES_MS);
    const before = (await runs()).length;
    await until("it wakes by itself", async () => !(await isAsleep()), MINUTES_MS);
    await until("its scheduled work has run", async () => (await runs()).length > before, MINUTES_MS);
    await until("it sleeps again", isAsleep, MINUTES_MS);
    const all = await runs();
    // The minutes are all different, and no run is at the end of its minute, however late PHP has started.
    expect(new Set(all.map((text) => text.split(" ")[1])).size).toBe(all.length);
    for (const text of all) expect(Number(text.split(" ").at(-1))).toBeLessThan(45);
    expect((await driver.observe(server)).sleep?.wakes).toBe(1);
  },
  3 * MINUTES_MS,
);
