// The rules of the network without a host: a port that was taken back, and rules that another program has removed.
import { afterAll, expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { loadConfig } from "../../config.ts";
import { createLog } from "../../lib/log.ts";
import { findPacketFilter } from "../../engines/packet-filter/packet-filter.ts";
import { removalScript, wholeScript } from "../../engines/packet-filter/ruleset.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { OtherMachine } from "../../../tests/support/clients/other-machine.ts";
import { uidOfPort } from "./accounts.ts";
import { NetworkRules, tableOf } from "./network-rules.ts";

/** Users without other processes: no other Pilvi of the machine has an instance at these ports. */
const [UID, OTHER_UID] = [uidOfPort(freePort()), uidOfPort(freePort())];

const portOf = () => null;

/** The rules of this run alone. */
const DATA_DIR = `/rules-of-a-test-${process.pid}`;

const SERVER = `
const hostname = process.argv.at(-1);
const server = Bun.listen({ hostname, port: 0, socket: { data(socket, data) { socket.write(data); } } });
console.log(server.port);`;

const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Starts a server of the user that sends back what it gets. @returns its port. */
async function startServer(hostname: string): Promise<number> {
  const child = Bun.spawn([process.execPath, "-e", SERVER, hostname], {
    cwd: "/",
    uid: UID,
    gid: UID,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const { value } = await child.stdout.getReader().read();
  return Number(new TextDecoder().decode(value));
}

/** A connection to a server that sends back what it gets. */
async function connectTo(port: number) {
  let answer = Promise.withResolvers<boolean>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: { data: () => answer.resolve(true) },
  });
  const ask = async () => {
    answer = Promise.withResolvers<boolean>();
    socket.write("hello");
    return await answer.promise;
  };
  const isAnsweredSoon = () => Promise.race([ask(), Bun.sleep(500).then(() => false)]);
  return { ask, isAnsweredSoon, close: () => socket.terminate() };
}

/** Rules of a Pilvi whose only port for instances is this. */
function rulesFor(port: number): NetworkRules {
  const { enginesDir } = loadConfig(process.env);
  const parts = { dataDir: DATA_DIR, enginesDir, portRange: { first: port, last: port } };
  return new NetworkRules({ ...parts, uids: () => [UID], portOf, log: createLog("host", "silent") });
}

test("no process goes on with connections of a port that it has no more", async () => {
  const port = await startServer("127.0.0.1");
  const rules = rulesFor(port);
  await rules.grant("app", { uid: UID, reaches: [], port });
  const kept = await connectTo(port);
  await kept.ask();
  await rules.revoke("app");
  expect(await kept.isAnsweredSoon()).toBe(false);
  kept.close();
  await rules.close();
});

test("a host that was let go changes nothing of the rules of the next", async () => {
  const port = await startServer("127.0.0.1");
  const [former, next] = [rulesFor(port), rulesFor(port)];
  await former.grant("app", { uid: UID, reaches: [], port: null });
  const timers = spyOn(globalThis, "setTimeout");
  await former.grant("app", { uid: UID, reaches: [], port: null });
  const check = timers.mock.calls.at(-1)?.[0] as () => void;
  timers.mockRestore();
  former.stop();
  await next.grant("app", { uid: UID, reaches: [], port });
  // The check of a former host may have begun already.
  check();
  await former.grant("other", { uid: UID, reaches: [], port: null });
  const kept = await connectTo(port);
  await kept.ask();
  kept.close();
  await next.close();
});

/** Connects to two ports in turn, and where nobody listens: by then, the kernel has dealt with the answer of the second. */
const CLIENT = `
const [first, second] = process.argv.slice(-2).map(Number);
const attempt = (port) => Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } }).then(() => "reached", ({ code }) => code);
const outcomes = [await attempt(first)];
let other = "held";
void attempt(second).then((outcome) => (other = outcome));
outcomes.push(await attempt(1));
console.log(...outcomes, other);
process.exit();`;

test("an answer of another user is refused also when no more refusals can be noted, and leaves nothing behind", async () => {
  const filter = await findPacketFilter(loadConfig(process.env).enginesDir);
  if (filter === null) throw new Error("this machine has no packet filter");
  const ports = [await startServer("127.0.0.1"), await startServer("127.0.0.1")];
  const table = tableOf("/full-sets-of-a-test");
  const reserved = [{ first: 29_999, last: 29_999 }];
  const rules = { table, reserved, uids: [UID, OTHER_UID], reached: [], owned: [], open: [] };
  try {
    await filter.run(wholeScript(rules).replace(/(set refused4 .* size )\d+/, (_, set) => `${set}1`));
    const words = [process.execPath, "-e", CLIENT, ...ports.map(String)];
    const client = Bun.spawn(words, {
      cwd: "/",
      uid: OTHER_UID,
      gid: OTHER_UID,
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(client);
    const text = await new Response(client.stdout).text();
    expect(text.trim()).toBe("ECONNREFUSED ECONNREFUSED held");
    expect(halfOpenAt(ports)).toEqual([]);
  } finally {
    await filter.run(removalScript(table));
  }
});

/** The ports among these with connections that wait for the last packet of their opening. */
function halfOpenAt(ports: number[]): number[] {
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  const halfOpen = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === "03");
  const local = new Set(halfOpen.map(([, name = ""]) => Number.parseInt(name.split(":")[1] ?? "", 16)));
  return ports.filter((port) => local.has(port));
}

test("rules that another program removes are made anew after the next start", async () => {
  const { enginesDir } = loadConfig(process.env);
  const filter = await findPacketFilter(enginesDir);
  if (filter === null) throw new Error("this machine has no packet filter");
  const [dataDir, portRange] = [`/removed-rules-of-a-test-${process.pid}`, { first: 29_999, last: 29_999 }];
  const table = tableOf(dataDir);
  const isThere = () =>
    filter.run(`list table inet ${table}\n`).then(
      () => true,
      () => false,
    );
  const log = createLog("host", "silent");
  const rules = new NetworkRules({ dataDir, enginesDir, portRange, uids: () => [UID], portOf, log });
  const grant = { uid: UID, reaches: [], port: 29_999 };
  await rules.grant("app", grant);
  expect(await isThere()).toBe(true);
  await filter.run(`delete table inet ${table}\n`);
  await rules.grant("app", grant);
  await until("the rules are there again", isThere);
  // A change that comes to the same rules does not wait for the kernel.
  await filter.run(`delete table inet ${table}\n`);
  // The look at the rules is held back until the test has looked itself.
  const timers = spyOn(globalThis, "setTimeout").mockImplementation((() => ({ unref() {} })) as never);
  await rules.grant("build", { ...grant, port: null });
  const check = timers.mock.calls.at(-1)?.[0] as () => void;
  timers.mockRestore();
  expect(await isThere()).toBe(false);
  check();
  await until("the rules are there again", isThere);
  // Another change goes on from them.
  await rules.grant("app", { ...grant, port: null });
  await rules.close();
  expect(await isThere()).toBe(false);
});

test("a process that listens at all addresses answers this machine, and no other machine", async () => {
  const { enginesDir } = loadConfig(process.env);
  const port = await startServer("::");
  const portRange = { first: port, last: port };
  const parts = {
    dataDir: `/answers-of-a-test-${process.pid}`,
    enginesDir,
    portRange,
    uids: () => [UID],
    portOf,
  };
  const rules = new NetworkRules({ ...parts, log: createLog("host", "silent") });
  const other = new OtherMachine();
  try {
    expect(other.reaches(port)).toBe(true);
    await rules.grant("app", { uid: UID, reaches: [], port });
    expect(other.reaches(port)).toBe(false);
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => {} } });
    socket.terminate();
  } finally {
    other.close();
    await rules.close();
  }
});
