// The edge of a real host: adopted, started again, at its low ports, and with instances that crash or sleep behind it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { routeOf } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import { specsOf } from "../../drivers/test-support.ts";
import { ensureProgram } from "../../processes/program/program.ts";
import { realtimeEngine } from "../../processes/program/own-engines.ts";
import { canSwitchUsers } from "../os/accounts.ts";
import { sleepySpec, TestHosts } from "../test-support.ts";
import type { Host } from "../host.ts";

let hosts: TestHosts;
let host: Host;
let port: number;

beforeEach(async () => {
  hosts = new TestHosts();
  hosts.settings.ownEngines.push(realtimeEngine(await ensureProgram(hosts.dataDir)));
  host = await hosts.start();
  port = freePort();
});

afterEach(async () => await hosts.close());

function edgeSpec(at = port) {
  const spec = specsOf(at).haproxy;
  if (spec === undefined) throw new Error("there is a spec of the edge");
  return spec;
}

/** An instance that answers over HTTP, with a route of the name `a.localhost`. */
async function application(): Promise<{ id: string; port: number; pid(): number }> {
  const at = freePort();
  const spec = specsOf(at).realtime;
  if (spec === undefined) throw new Error("there is a spec of a realtime server");
  expect(await host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  await host.edge.ensure(routeOf("env", ["a.localhost"], spec.id));
  return { id: spec.id, port: at, pid: () => pidOf(spec.id) };
}

function pidOf(id: string): number {
  const [pid] = hosts.pidsOf(id);
  if (pid === undefined) throw new Error(`${id} has no process`);
  return pid;
}

async function through(at = port, name = "a.localhost"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${at}/nowhere`, { headers: { host: name } });
  return `${response.status} ${await response.text()}`;
}

test("a request reaches an instance of the host, also after the instance, the edge or the host was killed", async () => {
  const instance = await application();
  expect(await host.ensure(edgeSpec())).toMatchObject({ state: "running", lastError: null });
  const direct = await through(instance.port);
  expect(await through()).toBe(direct);

  const before = instance.pid();
  process.kill(before, "SIGKILL");
  await until("the host has noticed", () => host.observe(instance.id).state !== "running");
  // The request is held until the instance is back.
  expect(await through()).toBe(direct);
  expect(instance.pid()).not.toBe(before);

  process.kill(pidOf(EDGE_ID), "SIGKILL");
  await until("the edge is back", () => host.observe(EDGE_ID).crashes === 1);
  await until("the edge serves", () => host.observe(EDGE_ID).state === "running");
  expect(await through()).toBe(direct);

  const next = pidOf(EDGE_ID);
  host = await hosts.start();
  await until("the edge is taken up", () => host.observe(EDGE_ID).state === "running");
  expect(hosts.pidsOf(EDGE_ID)).toEqual([next]);
  expect(await through()).toBe(direct);
  await host.edge.ensure(routeOf("env", ["b.localhost"], instance.id));
  expect(await through()).toStartWith("404");
  expect(await through(port, "b.localhost")).toBe(direct);
  // The instance crashes while the next host has the edge of the former.
  process.kill(instance.pid(), "SIGKILL");
  await until("the host has noticed", () => host.observe(instance.id).state !== "running");
  expect(await through(port, "b.localhost")).toBe(direct);
});

test("a crowd of requests wakes a sleeping instance once", async () => {
  await host.ensure(edgeSpec());
  // A cache speaks no HTTP and no gateway runs here, so the edge gives up a second after the wake.
  const spec = sleepySpec("cache");
  await hosts.gateway();
  await host.ensure(spec);
  await host.edge.ensure(routeOf("env", ["a.localhost"], spec.id, 1));
  await host.suspend(spec.id);
  expect(host.observe(spec.id).sleep).toMatchObject({ state: "asleep", wakes: 0 });
  const crowd = await Promise.all(Array.from({ length: 20 }, () => through()));
  for (const answer of crowd) expect(answer).toStartWith("504");
  expect(host.observe(spec.id)).toMatchObject({ state: "running", sleep: { state: "awake", wakes: 1 } });
});

test("a removed edge leaves its routes, which the next edge has", async () => {
  const instance = await application();
  await host.ensure(edgeSpec());
  await host.remove(EDGE_ID);
  expect(hosts.pidsOf(EDGE_ID)).toEqual([]);
  host = await hosts.start();
  port = freePort();
  await host.ensure(edgeSpec(port));
  expect(await through()).toBe(await through(instance.port));
});

test("an edge says which port is taken, and runs when it is free", async () => {
  const squatter = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  const seen = await host.ensure(edgeSpec());
  expect(seen).toMatchObject({ state: "failed" });
  expect(seen.lastError).toContain(String(port));
  squatter.stop(true);
  await until("it runs", async () => (await host.ensure(edgeSpec())).state === "running");
});

test.skipIf(!canSwitchUsers())(
  "an edge at port 80 has a user of its own, and no right but that port",
  async () => {
    const instance = await application();
    expect(await host.ensure(edgeSpec(80))).toMatchObject({ state: "running", lastError: null });
    expect(await through(80)).toBe(await through(instance.port));
    const status = readFileSync(`/proc/${pidOf(EDGE_ID)}/status`, "utf8");
    expect(status).toMatch(/^Uid:\t30080\t30080\t30080\t30080$/m);
    expect(status).toMatch(/^CapPrm:\t0000000000000400$/m);
    expect(status).toMatch(/^CapBnd:\t0000000000000400$/m);
  },
);
