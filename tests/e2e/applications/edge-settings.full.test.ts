// A start with other settings of the edge: an application that sleeps is reached at the new port, and knows its address.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket } from "../../../src/host/os/layout.ts";
import { createLog } from "../../../src/lib/log.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  await application.deploy(bunServer("shop"));
});

afterAll(() => pilvi.close());

/** Puts the process that serves to sleep, as its idle time would. */
async function suspend(): Promise<void> {
  const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  const routes = await driver.routes();
  const [instance = ""] = routes.find(({ id }) => id === application.environmentId)?.instances ?? [];
  await driver.suspend(instance);
  await until("it sleeps", async () => (await driver.observe(instance)).state === "asleep");
}

test("an application that sleeps moves with the edge to another port and domain", async () => {
  await suspend();
  await pilvi.stop();
  const [former, port] = [String(pilvi.env["PILVI_EDGE_HTTP"]), String(freePort())];
  Object.assign(pilvi.env, { PILVI_EDGE_HTTP: port, PILVI_APPS_DOMAIN: "apps.example" });
  await pilvi.start();
  const { attributes } = await application.environment();
  expect(attributes.vanity_domain).toEndWith(".apps.example");
  // Nothing asks for it meanwhile: the port is closed.
  const url = async () => await application.text("/?variable=APP_URL").catch(() => null);
  await until("its address is the new one", async () => {
    return (await url()) === `http://${attributes.vanity_domain}:${port}`;
  });
  await expect(fetch(`http://127.0.0.1:${former}/`)).rejects.toThrow();
});
