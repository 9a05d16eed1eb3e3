// Without cgroups, each process of an engine has the memory limit of the whole engine.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Host } from "../host.ts";
import { sleepySpec, TestHosts } from "../test-support.ts";

const hosts = new TestHosts();
let host: Host;
beforeAll(async () => {
  host = await hosts.start();
});
afterAll(() => hosts.close());

function awake(kind: "cache" | "postgres"): InstanceSpec {
  const { exposure } = sleepySpec(kind);
  return sleepySpec(kind, { exposure: { ...exposure, through: "engine" }, sleepAfterSeconds: null });
}

function dataLimitOf(pid: number | undefined): number {
  return Number(/^Max data size +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1]);
}

test("each process of a Postgres has the memory limit", async () => {
  const spec = awake("postgres");
  const { limits } = await host.ensure(spec);
  expect(limits?.enforcedBy).toBe("rlimit");
  expect(dataLimitOf(hosts.pidsOf(spec.id)[0])).toBe(limits?.memoryBytes ?? 0);
});

test("a cache whose script takes too much memory ends alone and serves again", async () => {
  const [spec, other] = [awake("cache"), awake("cache")];
  const { limits } = await host.ensure(spec);
  await host.ensure(other);
  const [pids, others] = [hosts.pidsOf(spec.id), hosts.pidsOf(other.id)];
  expect(dataLimitOf(pids[0])).toBe(limits?.totalMemoryBytes ?? 0);
  const client = new Bun.RedisClient(`redis://default:moi@127.0.0.1:${spec.exposure.port}`, {
    autoReconnect: false,
  });
  const hog = "local t={} local s=string.rep('x',1048576) for i=1,2000 do t[i]=s..i end return #t";
  await expect(client.send("EVAL", [hog, "0"])).rejects.toThrow();
  client.close();
  await until("it serves again", () => host.observe(spec.id).state === "running");
  expect(hosts.pidsOf(other.id)).toEqual(others);
});
