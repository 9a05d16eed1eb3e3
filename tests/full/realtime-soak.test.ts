// Thousands of connections that come and go: no event is lost, everything is counted exactly, and the memory stays
// flat.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../support/pilvi/pilvi.ts";
import { messageOf, RawWebSocket } from "../support/wire/raw-websocket.ts";
import {
  EVERYONE,
  LOBBY,
  LOBBY_SHARE,
  ROOMS,
  USERS,
  type SwarmOrder,
  type SwarmState,
} from "../support/load/realtime-swarm.ts";
import { APP, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const CONNECTIONS = 8_000;
const PROCESSES = 2;
const ROUNDS = 6;
const CHURN = 2_000;
const EVENTS_PER_ROUND = 5;
const MIB = 1024 ** 2;
/** The growth that garbage and fragments may cause between the second round and the lesser of the last two. */
const MOST_GROWTH = 64 * MIB;

const SWARM = join(import.meta.dir, "../support/load/realtime-swarm.ts");

/** The other end of a process full of clients. */
class Swarm {
  readonly #process: Bun.Subprocess<"ignore", "ignore", "inherit">;
  #answered: (state: SwarmState) => void = () => undefined;

  constructor(port: number) {
    const url = `ws://127.0.0.1:${port}/app/${APP.key}?protocol=7&client=swarm&version=1`;
    this.#process = Bun.spawn([process.execPath, SWARM, url], {
      stdio: ["ignore", "ignore", "inherit"],
      ipc: (state) => this.#answered(state as SwarmState),
    });
  }

  ready(): Promise<SwarmState> {
    return new Promise((resolve) => (this.#answered = resolve));
  }

  order(order: SwarmOrder): Promise<SwarmState> {
    const answer = this.ready();
    this.#process.send(order);
    return answer;
  }

  async end(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }
}

let realtime: TestRealtime;
let observer: RawWebSocket;
let swarms: Swarm[];

beforeAll(async () => {
  realtime = await startRealtime();
  observer = await RawWebSocket.greeted(realtime.port);
  const signed = realtime.pusher().authorizeChannel(observer.socketId, LOBBY, { user_id: "observer" });
  observer.write(messageOf("pusher:subscribe", { channel: LOBBY, ...signed }));
  await observer.event("pusher_internal:subscription_succeeded");
  swarms = Array.from({ length: PROCESSES }, () => new Swarm(realtime.port));
  await Promise.all(swarms.map((swarm) => swarm.ready()));
});

afterAll(async () => {
  await Promise.all(swarms.map((swarm) => swarm.end()));
  observer.destroy();
  await realtime.close();
});

/** Gives all swarms the order, each its share of the count. */
async function orderAll(kind: "open" | "close", count: number): Promise<void> {
  const states = await Promise.all(swarms.map((swarm) => swarm.order({ kind, count: count / PROCESSES })));
  expect(states.flatMap(({ faults }) => faults)).toEqual([]);
}

async function total(of: (state: SwarmState) => number): Promise<number> {
  const states = await Promise.all(swarms.map((swarm) => swarm.order({ kind: "report" })));
  return states.reduce((sum, state) => sum + of(state), 0);
}

async function subscriptions(channel: string): Promise<unknown> {
  const answer = await realtime
    .pusher()
    .get({ path: `/channels/${channel}`, params: { info: "subscription_count" } });
  return ((await answer.json()) as { subscription_count?: number }).subscription_count;
}

/** Events of the lobby that the observer received. */
function lobby(event: "member_added" | "member_removed"): string[] {
  return observer.events
    .filter((each) => each.event === `pusher_internal:${event}`)
    .map(({ data }) => (JSON.parse(String(data)) as { user_id: string }).user_id);
}

async function publishToAll(round: number): Promise<void> {
  for (let i = 0; i < EVENTS_PER_ROUND; i++) await realtime.pusher().trigger(EVERYONE, "hello", { round, i });
  const expected = CONNECTIONS * EVENTS_PER_ROUND * (round + 1);
  await until("all have received it", async () => (await total(({ received }) => received)) >= expected);
  expect(await total(({ received }) => received)).toBe(expected);
}

test(`${CONNECTIONS} connections, ${CHURN} of them replaced in each of ${ROUNDS} rounds, are counted exactly`, async () => {
  await orderAll("open", CONNECTIONS);
  const resident: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await publishToAll(round);
    await orderAll("close", CHURN);
    await orderAll("open", CHURN);
    await until("the counts are right", async () => (await realtime.stats()).connections === CONNECTIONS + 1);
    expect(await subscriptions(EVERYONE)).toBe(CONNECTIONS);
    expect(await subscriptions(LOBBY)).toBe(CONNECTIONS / LOBBY_SHARE + 1);
    expect(new Set(lobby("member_added")).size).toBe(USERS);
    resident.push(realtime.residentBytes());
  }
  const [, second = 0] = resident;
  const growth = Math.min(...resident.slice(-2)) - second;
  expect(growth).toBeLessThan(MOST_GROWTH);

  await orderAll("close", CONNECTIONS);
  await until("all are gone", async () => (await realtime.stats()).connections === 1);
  await until("all users have left", () => lobby("member_removed").length === lobby("member_added").length);
  expect(lobby("member_removed").toSorted()).toEqual(lobby("member_added").toSorted());
  const channels = await (await realtime.pusher().get({ path: "/channels" })).json();
  expect(channels).toEqual({ channels: { [LOBBY]: {} } });
  expect(ROOMS).toBeLessThan(CONNECTIONS);
  expect(realtime.log).not.toContain('"level":"error"');
}, 400_000);
