// Seconds awake, added up from events, match the time for which the engine really had a process, under kills at any
// moment.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Redis } from "ioredis";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { EventResource } from "../../src/resources/shared/event-schema.ts";
import { awakeTime, type LifeEvent } from "../../src/resources/shared/events/awake-time.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { ProcessLives } from "./process-lives.ts";
import { randomOf } from "./random.ts";

const ROUNDS = 14;
const SEED = 20_260_315;

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

async function use({ attributes: { connection } }: CacheResource): Promise<void> {
  const { hostname: host, port, username = "", password = "" } = connection;
  await until("a client is served", async () => {
    const client = new Redis({
      host,
      port,
      username,
      password,
      lazyConnect: true,
      retryStrategy: () => null,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.ping()) === "PONG";
    } catch {
      return false;
    } finally {
      client.disconnect();
    }
  });
}

async function eventsOf(id: string): Promise<EventResource[]> {
  const answer = await pilvi.api<{ data: EventResource[] }>("GET", `/events?filter[resource]=${id}`);
  return answer.body.data.toReversed();
}

function lifeOf({ attributes: { type, occurred_at: at, details } }: EventResource): LifeEvent {
  return { type, atMs: Date.parse(at), details };
}

test("seconds awake from events are the lifetimes of the engine's processes over kills of everything", async () => {
  const cache = await pilvi.createCache({ uses_hibernation: true });
  const { id } = cache;
  const random = randomOf(SEED);
  const lives = new ProcessLives(pilvi, id);
  const killEngine = () => killIfThere(pilvi.enginePids(id)[0]);
  const steps: Record<string, () => void | Promise<void>> = {
    engine: killEngine,
    host: () => pilvi.kill("host"),
    control: () => pilvi.kill("control"),
    gateway: () => pilvi.kill("gateway"),
    hostAndEngine: () => {
      pilvi.kill("host");
      killEngine();
    },
    controlAndEngine: () => {
      pilvi.kill("control");
      killEngine();
    },
    suspend: async () => void (await pilvi.api("POST", `/caches/${id}/suspend`).catch(() => undefined)),
  };
  for (let round = 0; round < ROUNDS; round++) {
    const names = Object.keys(steps);
    const name = names[Math.floor(random() * names.length)] ?? "engine";
    await steps[name]?.();
    await pilvi.untilReady();
    await use(cache);
  }
  await pilvi.untilStatus(id, "available");
  await until("it sleeps", async () => (await pilvi.api("POST", `/caches/${id}/suspend`)).status === 200);
  await until("its last process has ended", () => !lives.isAnyAlive);
  lives.stop();
  let events: EventResource[] = [];
  await until("all ends are events", async () => {
    events = await eventsOf(id);
    const count = (types: string[]) =>
      events.filter(({ attributes }) => types.includes(attributes.type)).length;
    const begun = count(["started", "restarted"]);
    return begun === lives.ended.length && begun === count(["stopped", "crashed"]);
  });
  const sum = awakeTime(events.map(lifeOf), { fromMs: 0, untilMs: Date.now() });
  expect(lives.ended.length).toBeGreaterThan(3);
  expect(sum.isComplete).toBe(true);
  expect(sum.ms).toBeLessThanOrEqual(lives.bounds.mostMs);
  expect(sum.ms + sum.uncertainMs).toBeGreaterThanOrEqual(lives.bounds.leastMs);
  const types = new Set(events.map(({ attributes }) => attributes.type));
  expect([...types]).toContainValues(["created", "available", "started", "asleep", "stopped"]);
}, 240_000);
