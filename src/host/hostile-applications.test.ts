// Applications of hostile tenants: each harms itself at most, and its neighbour goes on.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { canReservePorts } from "./os/cgroup.ts";
import { findCgroups } from "./os/cgroup-backends.ts";
import { KEPT_BYTES } from "./os/engine-log.ts";
import { instanceFolder } from "./os/layout.ts";

const MIB = 1024 ** 2;
const MAX_PROCESSES = 48;

/** Does what its path says, and answers. A shell ends when it cannot fork, so each step of the bomb leaves a sleeper. */
const SERVER = `
const { writeFileSync, appendFileSync } = require("node:fs");
const kept = [];
function attempt(task) { try { task(); return "done"; } catch (error) { return error.code ?? String(error); } }
const take = (port) => ["127.0.0.2", "::1"].map((hostname) => attempt(() => Bun.listen({ hostname, port: Number(port), exclusive: true, socket: { data() {} } }).stop()));
if (process.env.TAKEN !== undefined) process.exit(console.log(process.env.TAKEN.split(" ").map(take).join(" ")));
Bun.serve({ hostname: "127.0.0.1", port: Number(process.env.PORT), async fetch(request) {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/bomb") Bun.spawn(["sh", "-c", "bomb() { sleep 1000 & bomb | bomb & }; bomb"]);
  if (pathname === "/eat") for (;;) kept.push(Buffer.alloc(${MIB}, 1));
  if (pathname === "/flood") Bun.spawn(["sh", "-c", "yes this line has no end to it | head -c 200000000; echo done > /tmp/flooded"], { stdio: ["ignore", "inherit", "inherit"] });
  if (pathname === "/flooded") return new Response(String(await Bun.file("/tmp/flooded").exists()));
  if (pathname === "/take") return new Response(searchParams.getAll("port").map(take).join(" "));
  if (pathname === "/write") return new Response(["/app/server.js", "/usr/owned", "/etc/passwd", "/run/pilvi/start"].map((path) => attempt(() => appendFileSync(path, "x"))).join(" "));
  if (pathname === "/fill") return new Response(attempt(() => { for (let file = 0; ; file += 1) writeFileSync("/tmp/" + file, Buffer.alloc(8 * ${MIB}, 1)); }));
  return new Response("up");
} });
`;

let host: ApplicationHost;
let release: string;
let neighbour: ApplicationSpec;

beforeAll(async () => {
  ({ host, release } = await ApplicationHost.withServer(SERVER));
  neighbour = await started();
});

afterAll(async () => await host.close());

async function started(changes: Partial<ApplicationSpec> = {}): Promise<ApplicationSpec> {
  const spec = applicationSpec({ release, maxProcesses: MAX_PROCESSES, ...changes });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  return spec;
}

async function ask({ exposure }: ApplicationSpec, path = "/"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${exposure.port}${path}`, { keepalive: false });
  return await response.text();
}

/** The processes of an application, with the processes that have left its session. */
function processesOf({ id }: ApplicationSpec): string[] {
  const { stdout } = Bun.spawnSync([
    "sh",
    "-c",
    `cat /sys/fs/cgroup/pilvi/${id}/cgroup.procs /sys/fs/cgroup/*/pilvi/${id}/cgroup.procs 2>/dev/null | sort -u`,
  ]);
  return stdout.toString().split("\n").filter(Boolean);
}

test("a fork bomb stays below its number of processes, and ends with its application", async () => {
  const spec = await started();
  const usual = processesOf(spec).length;
  expect(usual).toBeGreaterThan(0);
  await ask(spec, "/bomb");
  await until("the bomb is there", () => processesOf(spec).length > usual + 2);
  for (let count = 0; count < 20; count += 1) {
    expect(processesOf(spec).length).toBeLessThanOrEqual(MAX_PROCESSES);
    expect(await ask(neighbour)).toBe("up");
  }
  await host.host.remove(spec.id);
  expect(processesOf(spec)).toEqual([]);
});

test("a fork bomb in a background process stays below its number of processes as well", async () => {
  const bomb = "bomb() { sleep 1000 & bomb | bomb & }; bomb; sleep 1000";
  const spec = applicationSpec({
    release,
    maxProcesses: MAX_PROCESSES,
    command: `sh -c '${bomb}'`,
    exposure: { port: null, scope: "loopback", through: "engine" },
  });
  await host.host.ensure(spec);
  await until("the bomb is there", () => processesOf(spec).length > 2);
  for (let count = 0; count < 20; count += 1) {
    expect(processesOf(spec).length).toBeLessThanOrEqual(MAX_PROCESSES);
    expect(await ask(neighbour)).toBe("up");
  }
  await host.host.remove(spec.id);
  expect(processesOf(spec)).toEqual([]);
});

test("an application that eats memory ends alone, and is started again", async () => {
  const spec = await started({ memoryBytes: 128 * MIB });
  await ask(spec, "/eat").catch(() => null);
  await until("it runs again", () => {
    const { crashes, state } = host.host.observe(spec.id);
    return crashes === 1 && state === "running";
  });
  expect(await ask(neighbour)).toBe("up");
  await host.host.remove(spec.id);
});

test("an application writes to nothing of the machine, and what it writes for itself is its own memory", async () => {
  const spec = await started({ memoryBytes: 128 * MIB });
  expect(await ask(spec, "/write")).toMatch(/^(?:(?:EROFS|EACCES) ?){4}$/);
  await ask(spec, "/fill").catch(() => null);
  expect(await ask(neighbour)).toBe("up");
  await host.host.remove(spec.id);
});

/** The outcomes for ports that are taken at an address of IPv4 and at one of IPv6. */
function outcomes(each: string, ports: readonly number[]): string {
  return ports.map(() => `${each},${each}`).join(" ");
}

describe.skipIf(!canReservePorts(findCgroups("/any")))("the ports of other instances", () => {
  const RANGE = { first: 20_000, last: 29_999 };
  let ports: number[];
  beforeAll(() => {
    const all = Array.from({ length: RANGE.last - RANGE.first - 1 }, (_, index) => RANGE.first + 1 + index);
    ports = [RANGE.first, ...host.host.freePorts(all).slice(0, 3), RANGE.last];
  });
  const taken = async (spec: ApplicationSpec, among: readonly number[] = ports) =>
    await ask(spec, `/take?${among.map((port) => `port=${port}`).join("&")}`);

  test("are refused to an application, which has its own alone", async () => {
    const spec = await started({ exposure: { ...neighbour.exposure, port: ports[2] ?? 0 } });
    const others = ports.filter((port) => port !== spec.exposure.port);
    expect(await taken(spec, others)).toBe(outcomes("EPERM", others));
    expect(await taken(spec, [spec.exposure.port ?? 0])).toBe("done,done");
    await host.host.remove(spec.id);
  });

  test("are refused while no host runs and after the next host has found the application, until it is gone", async () => {
    const spec = await started();
    host.host.release();
    expect(await taken(spec)).toBe(outcomes("EPERM", ports));
    await host.start();
    expect(await taken(spec)).toBe(outcomes("EPERM", ports));
    await host.restart();
    expect(await taken(spec)).toBe(outcomes("EPERM", ports));
    const group = findCgroups(host.dataDir)?.bindsFolder(`pilvi/${spec.id}`) ?? "";
    expect(existsSync(group)).toBe(true);
    await host.host.remove(spec.id);
    expect(existsSync(group)).toBe(false);
  });

  test("are refused to builds and to commands", async () => {
    const steps = [{ name: "take", command: `TAKEN="${ports.join(" ")}" bun server.js` }];
    const build = await host.build({ steps }, { "server.js": SERVER });
    expect(await host.texts(build.id)).toEqual([outcomes("EPERM", ports)]);
    const command = await host.runIn(release, { steps });
    expect(await host.texts(command.id)).toEqual([outcomes("EPERM", ports)]);
  });
});

test("output without an end takes no more of the disk than a log may", async () => {
  const spec = await started();
  await ask(spec, "/flood");
  await until("the flood is over", async () => (await ask(spec, "/flooded")) === "true", 60_000);
  const { log } = instanceFolder(host.dataDir, spec.id);
  await until("its beginning is freed", () => statSync(log).blocks * 512 <= 2 * KEPT_BYTES);
  expect(await ask(neighbour)).toBe("up");
  await host.host.remove(spec.id);
});
