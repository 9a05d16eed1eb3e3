// Clients before their login at the addresses of a whole Pilvi: they wake no engine, harm no customer, and leave
// nothing with the gateway.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "pg";
import { saslResponse } from "../../../src/gateway/postgres/messages.ts";
import { until } from "../../support/pilvi/pilvi.ts";
import { ASLEEP, pssKb, HostileLoad, type Figures, type Place } from "../../support/load/hostile-load.ts";
import {
  beginLogin,
  NONSENSE,
  randomNumbers,
  RawClient,
  tryWrongPassword,
  type Protocol,
} from "../../support/load/raw-client.ts";

const SEED = 20_261_121;
const PROTOCOLS = ["postgres", "mysql", "redis"] as const;
/** The tolerance for the gateway's memory. */
const PSS_SLACK_KB = 48 * 1024;
/** More than an engine of the smallest size takes. */
const HALF_LOGINS = 150;

const REFUSAL: Record<Protocol, string> = { postgres: "28P01", mysql: "#28000", redis: "-WRONGPASS" };

let hostileLoad: HostileLoad;
let before: Figures;

beforeAll(async () => {
  hostileLoad = await HostileLoad.begin();
  before = hostileLoad.gateway();
});

afterAll(async () => {
  await hostileLoad.end();
});

function target(protocol: Protocol): Place {
  const found = hostileLoad.targets.find((each) => each.protocol === protocol);
  if (found === undefined) throw new Error(`there is no ${protocol}`);
  return found;
}

function neighbour(): Place {
  const [found] = hostileLoad.neighbours;
  if (found === undefined) throw new Error("there is no neighbour");
  return found;
}

async function answers(place: Place, options: object = {}): Promise<boolean> {
  const { port, password } = place;
  const login = { host: "127.0.0.1", port, user: "app", password, database: "main" };
  const client = new Client({ ...login, ...options });
  client.on("error", () => undefined);
  await client.connect();
  const { rowCount } = await client.query("select 1");
  await client.end();
  return rowCount === 1;
}

describe.each(PROTOCOLS)("a sleeping %s", (protocol) => {
  test.each(Object.keys(NONSENSE[protocol]))("leaves %s behind", async (name) => {
    const client = await RawClient.open(target(protocol).port);
    client.write(NONSENSE[protocol][name] ?? "");
    await client.finish();
    expect(await hostileLoad.awake()).toEqual(ASLEEP);
  });

  test("is not woken by random bytes", async () => {
    const random = randomNumbers(SEED);
    const beginnings = Object.values(NONSENSE[protocol]);
    for (let round = 0; round < 200; round += 1) {
      const client = await RawClient.open(target(protocol).port);
      const bytes = Buffer.from(beginnings[random(beginnings.length)] ?? []).subarray(0, random(400));
      for (let changes = random(8); changes > 0; changes -= 1) bytes[random(bytes.length || 1)] = random(256);
      client.write(bytes);
      client.write(Buffer.from(Array.from({ length: random(100) }, () => random(256))));
      if (random(2) === 0) await client.finish();
      client.close();
    }
    expect(await hostileLoad.awake()).toEqual(ASLEEP);
  }, 60_000);

  test.each(["app", "nobody", "pilvi_admin", "root", ""])(
    "an unauthenticated client that claims to be %p learns no more than others",
    async (user) => {
      const said = await Promise.all(
        Array.from({ length: 20 }, () => tryWrongPassword(protocol, target(protocol).port, user)),
      );
      const refusal = user === "" && protocol !== "mysql" ? "" : REFUSAL[protocol];
      for (const words of said) expect(words).toContain(refusal);
      expect(await hostileLoad.awake()).toEqual(ASLEEP);
    },
  );

  test("survives a thousand connections that send nothing", async () => {
    const { port } = target(protocol);
    for (let round = 0; round < 20; round += 1) {
      const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.open(port)));
      for (const client of clients) client.close();
    }
    expect(await hostileLoad.awake()).toEqual(ASLEEP);
  });
});

test("an answer to one challenge of SCRAM is invalid for the next", async () => {
  const { port } = target("postgres");
  const [first, second] = [await RawClient.open(port), await RawClient.open(port)];
  const recorded = await beginLogin(first, "app");
  const current = await beginLogin(second, "app");
  expect(current.nonce).not.toBe(recorded.nonce);
  const proof = Buffer.alloc(32, 7).toString("base64");
  second.write(saslResponse(`c=biws,r=${recorded.nonce},p=${proof}`));
  expect((await second.rest()).toString()).toContain("invalid SCRAM response");
  first.close();
  expect(await hostileLoad.awake()).toEqual(ASLEEP);
});

test("clients that know a user name but no password keep no customer out of a running database", async () => {
  const place = neighbour();
  const clients = await Promise.all(Array.from({ length: HALF_LOGINS }, () => RawClient.open(place.port)));
  await Promise.all(clients.map((client) => beginLogin(client, "app")));
  expect(await answers(place)).toBe(true);
  for (const client of clients) client.close();
});

test("the gateway has the same process and memory as before, and is idle", async () => {
  await until(
    "all unauthenticated clients are gone",
    () => hostileLoad.gateway().descriptors <= before.descriptors + 4,
  );
  expect(hostileLoad.gateway().pid).toBe(before.pid);
  expect(pssKb(before.pid) - before.pssKb).toBeLessThan(PSS_SLACK_KB);
  expect(await hostileLoad.idleShare()).toBeLessThan(0.05);
  const logs = hostileLoad.logs();
  expect(logs.length).toBeLessThan(200_000);
  expect(logs).not.toContain("could not be served");
  for (const { password } of [...hostileLoad.targets, ...hostileLoad.neighbours])
    expect(logs).not.toContain(password);
});

test("a customer wakes the instance after the hostile clients, under any application name", async () => {
  const place = target("postgres");
  const application_name = `${"x".repeat(9_000)}\u001b[2J`;
  expect(await answers(place, { application_name })).toBe(true);
  type Sleep = { wakes: number; last_wake: { reason: object } | null };
  let sleep: Sleep = { wakes: 0, last_wake: null };
  // The client has its answer a moment before the API learns the reason of the wake.
  await until("the owner sees the reason", async () => {
    const { body } = await hostileLoad.pilvi.api<{ data: { meta: { sleep: Sleep } } }>("GET", place.path);
    sleep = body.data.meta.sleep;
    return sleep.last_wake !== null;
  });
  expect(sleep).toMatchObject({
    wakes: 1,
    last_wake: { reason: { user: "app", application: "x".repeat(128) } },
  });
  expect(hostileLoad.logs()).not.toContain("cannot be understood");
});
