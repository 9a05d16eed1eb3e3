// A host that is killed at each step of an application's sleep: the next host answers the request that waits.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { ApplicationHost, applicationSpec } from "../../../tests/support/applications/host.ts";
import type { SleepOrder } from "../../../tests/support/applications/sleep-process.ts";
import { Failpoints, until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { specsOf } from "../../drivers/test-support.ts";
import { instanceFolder } from "../os/layout.ts";
import { holdersOf } from "../os/locks.ts";

const SCRIPT = join(import.meta.dir, "../../../tests/support/applications/sleep-process.ts");

const NAME = "a.localhost";

const SERVER = `
Bun.serve({
  port: Number(process.env.PORT),
  hostname: process.env.HOST,
  fetch: async (request) => new Response(request.method + " " + (await request.text()).length),
});
`;

let failpoints: Failpoints;
let next: ApplicationHost;

beforeEach(() => {
  failpoints = new Failpoints();
  next = new ApplicationHost();
});

afterEach(async () => {
  await next.close();
  failpoints.close();
});

function startDoomed(order: SleepOrder): Bun.Subprocess {
  const words = [process.execPath, "--define=PILVI_FAILPOINTS:true", SCRIPT, JSON.stringify(order)];
  return Bun.spawn(words, {
    env: { ...process.env, ...failpoints.env },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

test.each([
  "host.suspend.draining",
  "host.suspend.recorded",
  "host.suspend.detached",
  "host.suspend.ended",
  "host.suspend.stopped",
])("a request is answered by the host after a host that was killed at %s", async (name) => {
  const edge = specsOf(freePort()).haproxy as EdgeSpec;
  const spec = applicationSpec({ sleepAfterSeconds: 1 });
  failpoints.arm(name);
  const doomed = startDoomed({ dataDir: next.dataDir, edge, spec, name: NAME, server: SERVER });
  process.kill(await failpoints.reached(), "SIGKILL");
  await doomed.exited;
  const answer = fetch(`http://127.0.0.1:${edge.exposure.port}/`, {
    method: "POST",
    body: "body",
    headers: { host: NAME },
  });
  await next.start();
  expect(await (await answer).text()).toBe("POST 4");
  expect(next.host.observe(spec.id)).toMatchObject({ state: "running", crashes: 0 });
  await until("it sleeps again", () => next.host.observe(spec.id).state === "asleep");
  expect(holdersOf(instanceFolder(next.dataDir, spec.id).lock)).toEqual([]);
});
