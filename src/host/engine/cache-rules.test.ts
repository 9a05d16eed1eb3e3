// A cache that an earlier Pilvi started, when customers had more rights than today.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { ADMIN_NAME } from "../../engines/redis/config.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { instanceFolder } from "../os/layout.ts";
import { sleepySpec, TestHosts } from "../test-support.ts";

const hosts = new TestHosts();
let pid: number | undefined;
let socket: string;
const spec = sleepySpec("cache", {
  exposure: { ...sleepySpec("cache").exposure, through: "engine" },
  sleepAfterSeconds: null,
});

beforeAll(async () => {
  const host = await hosts.start();
  await host.ensure(spec);
  [pid] = hosts.pidsOf(spec.id);
  const { conf, manifest, run } = instanceFolder(hosts.dataDir, spec.id);
  socket = `${run}/engine.sock`;
  const { adminPassword } = JSON.parse(readFileSync(manifest, "utf8")) as { adminPassword: string };
  const admin = clientOf(ADMIN_NAME, adminPassword);
  await admin.send("ACL", ["SETUSER", "default", "+script|debug"]);
  admin.close();
  const users = readFileSync(`${conf}/users.acl`, "utf8");
  writeFileSync(`${conf}/users.acl`, users.replace(" -script|debug", ""));
});
afterAll(() => hosts.close());

function clientOf(user: string, password: string): Bun.RedisClient {
  return new Bun.RedisClient(`redis+unix://${user}:${password}@localhost${socket}`, { autoReconnect: false });
}

test("a running cache gets today's command rights when a host takes it up", async () => {
  const customer = clientOf("default", "moi");
  expect(await customer.send("SCRIPT", ["DEBUG", "NO"])).toBe("OK");
  const host = await hosts.start();
  await until("it was taken up", () => host.observe(spec.id).state === "running");
  await host.ensure(spec);
  await expect(customer.send("SCRIPT", ["DEBUG", "NO"])).rejects.toThrow("NOPERM");
  expect(hosts.pidsOf(spec.id)[0]).toBe(pid ?? 0);
  customer.close();
});
