// The gateway under tight limits of its machine: served clients go on, and others find a place.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client } from "pg";
import { until } from "../../support/pilvi/pilvi.ts";
import { HostileLoad, type Place } from "../../support/load/hostile-load.ts";
import { RawClient } from "../../support/load/raw-client.ts";

const OPEN_FILES = 256;
const CLIENTS = 1_000;
/** Less than the time that a client may take to log in, after which the crowd gives its places back. */
const SOON_MS = 9_000;

let hostileLoad: HostileLoad;

beforeAll(async () => {
  hostileLoad = await HostileLoad.begin({ openFiles: OPEN_FILES });
});

afterAll(async () => {
  await hostileLoad.end();
});

function clientOf({ port, password }: Place): Client {
  const client = new Client({ host: "127.0.0.1", port, user: "app", password, database: "main" });
  client.on("error", () => undefined);
  return client;
}

async function answers(place: Place): Promise<boolean> {
  const client = clientOf(place);
  await client.connect();
  const { rowCount } = await client.query("select 1");
  await client.end();
  return rowCount === 1;
}

test("more clients before their login than descriptors keep no customer out", async () => {
  const [target, neighbour] = [hostileLoad.targets[0], hostileLoad.neighbours[0]];
  if (target === undefined || neighbour === undefined) throw new Error("nothing is besieged");
  const served = clientOf(neighbour);
  await served.connect();
  const { pid } = hostileLoad.gateway();
  const clients = [];
  for (let count = 0; count < CLIENTS; count += 1) clients.push(await RawClient.open(target.port));
  const beganAt = performance.now();
  expect(await answers(neighbour)).toBe(true);
  // At the same route a customer may be rejected with the crowd while it connects.
  await until("the besieged database answers as well", () => answers(target).catch(() => false), SOON_MS);
  expect(performance.now() - beganAt).toBeLessThan(SOON_MS);
  expect((await served.query("select 1")).rowCount).toBe(1);
  await served.end();
  for (const client of clients) client.close();
  expect(hostileLoad.gateway().pid).toBe(pid);
});
