// Floods at the addresses of a Pilvi, while well-behaved clients of other instances connect and leave.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { besideWellBehaved } from "../support/load/well-behaved.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { ASLEEP, HostileLoad, type Figures, type Place } from "../support/load/hostile-load.ts";
import { RawClient, tryWrongPassword } from "../support/load/raw-client.ts";

const WRONG_PASSWORDS = 4_000;
/** Attackers that wait for their answers in parallel. */
const ATTACKERS = 400;
const MANY_CONNECTIONS = 10_000;
const HALF_OPEN = 5_000;
/** The time limit of a login, and the latest close on a busy machine. */
const DEADLINE_MS = 10_000;
const LATEST_MS = 30_000;
/** Memory that a flood may leave with the gateway; an earlier flood has allocated what later floods need. */
const PSS_SLACK_KB = 100 * 1024;
/** A well-behaved client is served within this time on any machine. */
const LONGEST_WAIT_MS = 10_000;

let hostileLoad: HostileLoad;
let before: Figures;

beforeAll(async () => {
  hostileLoad = await HostileLoad.begin();
});

afterAll(async () => {
  await hostileLoad.end();
});

beforeEach(() => {
  before = hostileLoad.gateway();
});

afterEach(async () => {
  expect(await hostileLoad.awake()).toEqual(ASLEEP);
  await until("all attackers are gone", () => hostileLoad.gateway().descriptors <= before.descriptors + 8);
  // Garbage of thousands of logins is collected and given back a while later.
  await until("memory is free again", () => hostileLoad.gateway().pssKb - before.pssKb < PSS_SLACK_KB);
  expect(hostileLoad.gateway().pid).toBe(before.pid);
  await until("the gateway rests", async () => (await hostileLoad.idleShare()) < 0.02);
});

/** Runs it beside well-behaved clients, which must not notice. */
async function beside(name: string, action: () => Promise<unknown>): Promise<void> {
  const experiences = await besideWellBehaved(hostileLoad.neighbours, action);
  console.log(name, JSON.stringify(hostileLoad.gateway()), JSON.stringify(experiences));
  for (const { uses, longestMs, failures } of experiences) {
    expect(failures).toEqual([]);
    expect(uses).toBeGreaterThan(0);
    expect(longestMs).toBeLessThan(LONGEST_WAIT_MS);
  }
}

/** Repeats it thousands of times, in parallel. */
async function flood(action: () => Promise<unknown>): Promise<void> {
  let count = 0;
  const attack = async (): Promise<void> => {
    while (count < WRONG_PASSWORDS) {
      count += 1;
      await action();
    }
  };
  await Promise.all(Array.from({ length: ATTACKERS }, attack));
}

function place(from: "targets" | "neighbours", index: number): Place {
  const found = hostileLoad[from][index];
  if (found === undefined) throw new Error("there is no such place");
  return found;
}

test.each([
  ["a Postgres that sleeps", "targets", 0],
  ["a MySQL that sleeps", "targets", 1],
  ["a cache that sleeps", "targets", 2],
  ["a Postgres that honest clients use", "neighbours", 0],
  ["a cache that honest clients use", "neighbours", 1],
] as const)("thousands of wrong passwords for %s", async (name, from, index) => {
  const { protocol, port } = place(from, index);
  await beside(name, () => flood(() => tryWrongPassword(protocol, port, "app")));
});

test("10,000 connections that open and close delay no well-behaved client", async () => {
  await beside("open and close", async () => {
    let count = 0;
    const attack = async (): Promise<void> => {
      for (; count < MANY_CONNECTIONS; count += 1)
        (await RawClient.open(place("targets", count % 3).port)).close();
    };
    await Promise.all(Array.from({ length: 50 }, attack));
  });
});

test("5,000 connections that trickle bytes without end are closed in time", async () => {
  const letters = ["\0", "\u0010", "*"];
  await beside("trickle", async () => {
    const clients: RawClient[] = [];
    for (let count = 0; count < HALF_OPEN; count += 1) {
      clients.push(await RawClient.open(place("targets", count % 3).port));
    }
    const openedAt = performance.now();
    const trickle = setInterval(() => {
      for (const [index, client] of clients.entries()) client.write(letters[index % 3] ?? "");
    }, 2_000);
    await Promise.all(clients.map((client) => client.rest()));
    clearInterval(trickle);
    const tookMs = performance.now() - openedAt;
    console.log("all closed", Math.round(tookMs), "ms after the last was opened");
    expect(tookMs).toBeLessThan(LATEST_MS);
    expect(tookMs).toBeGreaterThan(DEADLINE_MS / 2);
  });
});

test("no log has grown by the floods, or contains a secret", () => {
  const logs = hostileLoad.logs();
  expect(logs.length).toBeLessThan(500_000);
  for (const { password } of [...hostileLoad.targets, ...hostileLoad.neighbours])
    expect(logs).not.toContain(password);
});
