// What applications and builds reach on their machine: what is attached to them, themselves, and nothing else.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { cacheSpec } from "../drivers/test-support.ts";

/** A port of the range that hosts have for instances. */
const RANGE = { first: 20_000, last: 29_999 };

/** Answers each path with a number by the outcome of a connection to that port; `/own` is a server of its own. */
const SERVER = `
const inner = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {}, open(s) { s.end("hi"); } } });
const thief = Number(process.env.STOLEN ?? 0);
if (thief > 0) Bun.serve({ hostname: "127.0.0.1", port: thief, fetch: () => new Response("stolen") });
async function attempt(port, hostname) {
  try {
    const socket = { data() {}, open(s) { s.end(); }, connectError() {} };
    await Bun.connect({ hostname, port, socket });
    return "reached";
  } catch (error) { return error.code ?? String(error); }
}
Bun.serve({ hostname: "127.0.0.1", port: Number(process.env.PORT), idleTimeout: 30, async fetch(request) {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/") return new Response("up");
  const port = pathname === "/own" ? inner.port : Number(pathname.slice(1));
  return new Response(await attempt(port, searchParams.get("at") ?? "127.0.0.1"));
} });
`;

let host: ApplicationHost;
let release: string;
let cacheId: string;
let cachePort: number;
let other: ApplicationSpec;
const servers: { stop(): void }[] = [];
const laxHosts: ApplicationHost[] = [];

beforeAll(async () => {
  ({ host, release } = await ApplicationHost.withServer(SERVER));
  cachePort = portOfRange();
  const cache = cacheSpec(cachePort, "a password");
  cacheId = cache.id;
  expect(await host.host.ensure(cache)).toMatchObject({ state: "running" });
  other = applicationSpec({ environment: "env-other", release: await releaseFor("env-other") });
  await started(other);
});

afterAll(async () => {
  for (const server of servers) server.stop();
  for (const lax of laxHosts) await lax.close();
  await host.close();
});

function portOfRange(): number {
  for (let port = RANGE.first; port <= RANGE.last; port += 1) {
    if (host.host.freePorts([port]).length > 0) return port;
  }
  throw new Error("no port is free");
}

async function releaseFor(environment: string): Promise<string> {
  return (await host.build({ environment }, { "server.js": SERVER })).id;
}

async function started(spec: ApplicationSpec): Promise<void> {
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
}

/** The outcome of an attempt of an application. */
async function attempt({ exposure }: ApplicationSpec, target: string | number | null): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${exposure.port}/${target}`)).text();
}

/** A server of the machine's own, as Pilvi's API is. */
function machineServer(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("machine") });
  servers.push(server);
  return server.port ?? 0;
}

test("an application reaches what is attached to it and itself, and neither others nor the machine", async () => {
  const spec = applicationSpec({ release, reaches: [cacheId] });
  await started(spec);
  expect(await attempt(spec, cachePort)).toBe("reached");
  expect(await attempt(spec, "own")).toBe("reached");
  expect(await attempt(spec, spec.exposure.port)).toBe("reached");
  expect(await attempt(spec, other.exposure.port)).toBe("ECONNREFUSED");
  expect(await attempt(spec, machineServer())).toBe("ECONNREFUSED");
  expect(await attempt(other, cachePort)).toBe("ECONNREFUSED");
  const metadata = await attempt(spec, "80?at=169.254.169.254");
  expect(metadata).not.toBe("reached");
});

test("the rules follow a later host, and what is no longer attached is refused", async () => {
  const spec = applicationSpec({ release, reaches: [cacheId] });
  await started(spec);
  await host.restart();
  expect(await attempt(spec, cachePort)).toBe("reached");
  expect(await attempt(other, cachePort)).toBe("ECONNREFUSED");
  await host.host.remove(spec.id);
  // The environment has other processes, for each of which its own spec counts.
  for (const id of host.host.ids().filter((each) => each.startsWith("app-") && each !== other.id))
    await host.host.remove(id);
  const next = applicationSpec({ release });
  await started(next);
  expect(await attempt(next, cachePort)).toBe("ECONNREFUSED");
});

test("an application reaches the port that an earlier release wrote into its spec", async () => {
  const spec = applicationSpec({ release, reaches: [cachePort] });
  await started(spec);
  expect(await attempt(spec, cachePort)).toBe("reached");
  await host.host.remove(spec.id);
});

test("an application that could take a port of another instance does not answer there", async () => {
  const stolen = portOfRange();
  // Without groups, the kernel cannot refuse the port itself.
  const lax = new ApplicationHost({ cgroups: null });
  laxHosts.push(lax);
  await lax.start();
  const { id } = await lax.build({}, { "server.js": SERVER });
  const thief = applicationSpec({ release: id, variables: { STOLEN: String(stolen) } });
  expect(await lax.host.ensure(thief)).toMatchObject({ state: "running", lastError: null });
  expect(host.host.freePorts([stolen])).toEqual([]);
  const answer = fetch(`http://127.0.0.1:${stolen}/`, { signal: AbortSignal.timeout(2_500) });
  expect(await answer.then((response) => response.text()).catch((error: Error) => error.name)).toBe(
    "TimeoutError",
  );
});

function steps(port: number) {
  const attempted = `await Bun.connect({ hostname: "127.0.0.1", port: ${port}, socket: { data() {} } })`;
  const command = `bun -e 'try { ${attempted}; console.log("reached") } catch (e) { console.log(e.code) } process.exit()'`;
  return [{ name: "try", command }];
}

test("a build reaches no service of the machine, and a command in a release what is attached", async () => {
  const build = await host.build({ steps: steps(machineServer()) }, { "server.js": SERVER });
  expect(await host.texts(build.id)).toEqual(["ECONNREFUSED"]);
  const command = await host.runIn(release, { steps: steps(cachePort), reaches: [cacheId] });
  expect(await host.texts(command.id)).toEqual(["reached"]);
  const later = await host.runIn(release, { steps: steps(cachePort) });
  expect(await host.texts(later.id)).toEqual(["ECONNREFUSED"]);
});

test("an application reaches what comes later, and the port of a removed instance no longer", async () => {
  const port = portOfRange();
  const cache = cacheSpec(port, "a password");
  const spec = applicationSpec({ release, reaches: [cache.id] });
  await started(spec);
  expect(await attempt(spec, port)).toBe("ECONNREFUSED");
  expect(await host.host.ensure(cache)).toMatchObject({ state: "running" });
  await until("the rules are in force", async () => (await attempt(spec, port)) === "reached");
  await host.host.remove(cache.id);
  expect(await host.host.ensure(cacheSpec(port, "another password"))).toMatchObject({ state: "running" });
  expect(await attempt(spec, port)).toBe("ECONNREFUSED");
  await host.restart();
  expect(await attempt(spec, port)).toBe("ECONNREFUSED");
});
