// Applications that are being ended when their host is killed: the next host goes on with that, and asks no process to
// end for a second time, which many programs take for an order to end at once.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EndingOrder } from "../../tests/support/applications/ending-process.ts";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { specsOf } from "../drivers/test-support.ts";
import { MAX_END_MS } from "./instance/closing.ts";
import { instanceFolder } from "./os/layout.ts";
import { machineUpMs } from "./os/process-times.ts";

const SCRIPT = join(import.meta.dir, "../../tests/support/applications/ending-process.ts");

/** Goes on when it is asked to end, until a request lets it. */
const SERVER = `
process.on("SIGTERM", () => console.log("ending"));
Bun.serve({ port: Number(process.env.PORT), hostname: process.env.HOST, fetch(request) {
  if (new URL(request.url).pathname === "/end") setTimeout(() => process.exit(0), 50);
  return new Response(process.env.WORD ?? "none");
} });
`;

let host: ApplicationHost;
let release: string;
let spec: ApplicationSpec;

beforeAll(async () => {
  ({ host, release } = await ApplicationHost.withServer(SERVER));
});

afterAll(() => host.close());

afterEach(() => host.host.remove(spec.id));

const observed = () => host.host.observe(spec.id);

const pids = () => host.pidsOf(spec.id);

async function ask(path = "/"): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${spec.exposure.port}${path}`, { keepalive: false })).text();
}

/** How often all processes together were asked to end. */
function signals(): number {
  const text = readFileSync(instanceFolder(host.dataDir, spec.id).log, "utf8");
  return text.split("\n").filter((line) => line === "ending").length;
}

/**
 * Has another host run the application, and dies while it ends it.
 * @returns the processes of the application.
 */
async function interrupt(reason: EndingOrder["reason"]): Promise<number[]> {
  host.host.release();
  const order: EndingOrder = { dataDir: host.dataDir, spec, reason };
  const doomed = Bun.spawn([process.execPath, SCRIPT, JSON.stringify(order)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  await doomed.exited;
  expect(doomed.signalCode).toBe("SIGKILL");
  const left = pids();
  await host.start();
  return left;
}

test("a process that was ordered to end goes on ending, and is not started anew until it is ordered to run", async () => {
  spec = applicationSpec({ release, shutdownTimeoutSeconds: 60 });
  const left = await interrupt("order");
  expect(pids()).toEqual(left);
  expect(observed().state).toBe("stopped");
  expect(host.host.endings.end(spec.id)).toBe(true);
  await ask("/end");
  await until("it has ended", () => !host.host.endings.end(spec.id));
  expect(signals()).toBe(1);
  await host.restart();
  expect(observed()).toMatchObject({ state: "stopped", crashes: 0, lastError: null });
  expect(pids()).toEqual([]);
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  await host.restart();
  await until("it is taken up", () => observed().state === "running");
  expect(observed().lastError).toBeNull();
});

test("a process that was ordered to end is killed when its time is over", async () => {
  spec = applicationSpec({ release, shutdownTimeoutSeconds: 15 });
  const left = await interrupt("order");
  expect(pids()).toEqual(left);
  await until("it is killed", () => pids().length === 0);
  await until("the host has seen its end", () => !host.host.endings.end(spec.id));
  expect(signals()).toBe(1);
});

test("a process that was being ended with its host has no more time under the next than it had", async () => {
  spec = applicationSpec({ release, shutdownTimeoutSeconds: 600 });
  await interrupt("close");
  const { killAtUpMs } = JSON.parse(readFileSync(instanceFolder(host.dataDir, spec.id).endOrder, "utf8"));
  expect(killAtUpMs - machineUpMs()).toBeLessThanOrEqual(MAX_END_MS);
});

test.each(["close", "change"])(
  "a process that was being ended for a %s is followed by another once it has ended",
  async (name) => {
    spec = applicationSpec({ release, shutdownTimeoutSeconds: 60 });
    const changed = { ...spec, variables: { WORD: "changed" } };
    const left = await interrupt(name === "close" ? "close" : changed);
    expect(pids()).toEqual(left);
    expect(observed().state).toBe("starting");
    await ask("/end");
    await until("another runs", () => observed().state === "running" && !pids().includes(left[0] ?? 0));
    expect(observed()).toMatchObject({ crashes: 0, lastError: null });
    expect(existsSync(instanceFolder(host.dataDir, spec.id).endOrder)).toBe(false);
    expect(await ask()).toBe(name === "close" ? "none" : "changed");
    expect(signals()).toBe(1);
  },
);

test("a process that was being ended for its sleep sleeps once it has ended", async () => {
  const edge = specsOf(freePort()).haproxy;
  if (edge === undefined) throw new Error("there is a spec of the edge");
  expect(await host.host.ensure(edge)).toMatchObject({ state: "running", lastError: null });
  spec = applicationSpec({ release, sleepAfterSeconds: 3600 });
  const left = await interrupt("sleep");
  expect(pids()).toEqual(left);
  await ask("/end");
  await until("it sleeps", () => observed().state === "asleep");
  expect(observed()).toMatchObject({ crashes: 0, lastError: null });
  expect(pids()).toEqual([]);
  expect(signals()).toBe(1);
});
