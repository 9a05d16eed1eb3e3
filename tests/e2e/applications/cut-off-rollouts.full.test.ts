// A rollout that is cut off when the address leads to the new process already, while a later change waits: the process
// that serves is asked until the process of that change has started.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  application = await TestApplication.create(pilvi);
  await application.deploy(bunServer("one"));
});

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

async function setVariable(value: string): Promise<void> {
  const path = `/environments/${application.environmentId}/variables`;
  const variables = [{ key: "GREETING", value }];
  expect((await pilvi.api("POST", path, { method: "set", variables })).status).toBe(200);
}

test("the process that serves is asked while that of a later change starts", async () => {
  failpoints.arm("environment.routed");
  await setVariable("first");
  await failpoints.reached();
  await setVariable("second");
  pilvi.kill("control");
  // The next run has removed the process of the first change here, and that of the second does not run yet.
  failpoints.arm("environment.placed");
  await failpoints.reached();
  await pilvi.untilReady();
  const { status } = await application.fetch();
  failpoints.release();
  expect(status).toBe(200);
  await until("the application has the later variable", async () => {
    return (await application.text("/?variable=GREETING")) === "second";
  });
});
