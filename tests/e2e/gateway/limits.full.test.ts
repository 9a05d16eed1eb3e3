// The gateway under tight limits of its machine: served clients go on, and others find a place.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client } from "pg";
import { until } from "../../support/pilvi/pilvi.ts";
import { HostileLoad, type Place } from "../../support/load/hostile-load.ts";
import { RawClient } from "../../support/load/raw-client.ts";

const OPEN_FILES = 256;
const CLIENTS = 1_000;
/** As many clients before their login as the gateway keeps. */
const MOST_KEPT = OPEN_FILES / 2;

let hostileLoad: HostileLoad;
let crowd: RawClient[] = [];

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

/** How many of the crowd the gateway keeps. */
function kept(): number {
  crowd = crowd.filter(({ isEnded }) => !isEnded);
  return crowd.length;
}

/** @returns false also when the crowd has meanwhile given places back, as it does after the time for a login. */
async function answersUnderSiege(place: Place, target: Place): Promise<boolean> {
  for (let count = 0; count < CLIENTS; count += 1) crowd.push(await RawClient.open(target.port));
  await until("the gateway keeps no more than it may", () => kept() <= MOST_KEPT);
  // The customer's arrival costs the crowd one place.
  return (await answers(place)) && kept() >= MOST_KEPT - 1;
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
  await until("a neighbour answers", () => answersUnderSiege(neighbour, target));
  // At the same route a customer may be rejected with the crowd while it connects.
  await until("the besieged database answers as well", () =>
    answersUnderSiege(target, target).catch(() => false),
  );
  expect((await served.query("select 1")).rowCount).toBe(1);
  await served.end();
  for (const client of crowd) client.close();
  expect(hostileLoad.gateway().pid).toBe(pid);
});
