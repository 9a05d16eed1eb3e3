// Settings of the edge that change during a rollout are in force while it goes on, and the rollout does not undo them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  application = await TestApplication.create(pilvi);
  await change({ deploy_command: "true" });
  await application.deploy(bunServer("one"));
});

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

async function change(settings: Record<string, unknown>): Promise<void> {
  const { status } = await pilvi.api("PATCH", `/environments/${application.environmentId}`, settings);
  expect(status).toBe(200);
}

test("a changed firewall is in force during a deploy command, and when the address leads to the new release", async () => {
  const asked = async () => {
    const response = await application.fetch("/.env");
    return [response.status, response.status === 200 ? await response.text() : ""];
  };
  failpoints.arm("deployment.commanded");
  const { id } = await application.upload(bunServer("two"));
  await failpoints.reached();
  expect((await asked())[0]).toBe(403);
  await change({ firewall_block_path: false });
  await until("the edge has the setting", async () => (await asked())[0] === 200);
  expect(await asked()).toEqual([200, "one"]);
  failpoints.arm("environment.answered");
  await failpoints.reached();
  expect(await asked()).toEqual([200, "two"]);
  failpoints.release();
  expect((await application.ended(id)).attributes.status).toBe("deployment.succeeded");
  expect(await asked()).toEqual([200, "two"]);
}, 120_000);
