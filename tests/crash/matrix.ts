// The crash matrix of caches: kills of Pilvi's processes at the steps of a create, a delete and a restart; each scenario
// comes to the same end.
import { expect } from "bun:test";
import { randomUUID } from "node:crypto";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { Database } from "../../src/store/database.ts";
import {
  type Answer,
  cacheBody,
  type CacheDocument,
  Failpoints,
  startPilvi,
  type TestPilvi,
  until,
} from "../support/pilvi/pilvi.ts";
import { isAlive, killIfThere } from "../support/pilvi/processes.ts";
import { Table, type Action, type CacheScenario, type Victim } from "./scenario.ts";
import { Connection } from "./connection.ts";
import { expectExactly, listeningPorts, openStore } from "./inspection.ts";

/** Ports that no other test uses; see tests/support/pilvi/ports.ts. */
const PORTS = { first: 31_000, last: 31_999 };

const failpoints = new Failpoints();
const table = new Table();
let pilvi: TestPilvi;
let store: Database;
/** A cache that no scenario touches: it must not notice anything. */
let bystander: { cache: CacheResource; pid: number; connection: Connection };
/** The cache whose engine is killed again and again. */
let restarted: CacheResource;

/** Interrupts an action, and checks that its end is the end of an undisturbed action. */
export async function interrupt(action: Action, scenario: CacheScenario): Promise<void> {
  if (action === "create") await interruptCreate(...scenario);
  if (action === "delete") await interruptDelete(...scenario);
  if (action === "restart") await interruptRestart(...scenario);
}

/** Starts the Pilvi that all scenarios run on. */
export async function begin(): Promise<void> {
  const env = { ...failpoints.env, PILVI_PORT_RANGE: `${PORTS.first}-${PORTS.last}` };
  pilvi = await startPilvi({ env });
  store = await openStore(pilvi);
  const cache = await pilvi.createCache({ name: "bystander" });
  const connection = await Connection.open(cache);
  await connection.set("kept", "from before");
  bystander = { cache, pid: await enginePid(cache.id), connection };
  restarted = await pilvi.createCache({ name: "restarted", eviction_policy: "noeviction" });
}

/** Stops it, and prints how long each scenario took. */
export async function end(): Promise<void> {
  failpoints.release();
  bystander.connection.close();
  await store.close();
  await pilvi.close();
  failpoints.close();
  console.log(String(table));
}

/** Leftovers of a scenario must not fail the next. */
export async function cleanUp(): Promise<void> {
  failpoints.release();
  const kept = [bystander.cache.id, restarted.id];
  const rows = await store<{ id: string }[]>`
    select id from caches where not (id = any(${store.array(kept, "text")}))`;
  for (const { id } of rows) await pilvi.deleteCache(id);
}

async function interruptCreate(...[name, victim, step]: CacheScenario): Promise<void> {
  const startedAt = performance.now();
  const key = randomUUID();
  failpoints.arm(name);
  const posting = create(key).catch(() => null);
  await failpoints.reached();
  // At these steps the answer is still to come, and the kill may cost it.
  const isAnswered = !name.startsWith("create.");
  const first = isAnswered ? resourceOf(await posting) : null;
  const held = step.isReachable && first !== null ? await openSoon(first) : null;
  const pid = step.hasEngine && first !== null ? await enginePid(first.id) : null;
  strike(victim, pid);
  await pilvi.untilReady();

  const answer = resourceOf(await posting);
  const again = resourceOf(await create(key));
  if (again === null) throw new Error("the repeated create was refused");
  expect(again.id).toBe(first?.id ?? answer?.id ?? again.id);
  const cache = await pilvi.untilStatus(again.id, "available");
  if (pid !== null && victim !== "engine") {
    expect(await enginePid(cache.id)).toBe(pid);
    await held?.set("held", "yes");
  }
  held?.close();
  if (victim === "engine") await until("another engine runs", () => hasOther(cache.id, pid));
  await expectAll(cache);
  await expectUsable(first ?? cache);
  table.passed("create", name, victim, performance.now() - startedAt);
}

async function interruptDelete(...[name, victim, step]: CacheScenario): Promise<void> {
  const startedAt = performance.now();
  const cache = await pilvi.createCache();
  const pid = await enginePid(cache.id);
  await until("the create is all over", async () => (await idleWork(cache.id)) === 1);
  failpoints.arm(name);
  const deleting = pilvi.api("DELETE", `/caches/${cache.id}`).catch(() => null);
  await failpoints.reached();
  strike(victim, step.hasEngine ? pid : null);
  await pilvi.untilReady();

  await deleting;
  await pilvi.deleteCache(cache.id);
  expect(isAlive(pid)).toBe(false);
  await expectAll();
  table.passed("delete", name, victim, performance.now() - startedAt);
}

async function interruptRestart(...[name, victim, step]: CacheScenario): Promise<void> {
  const startedAt = performance.now();
  const value = randomUUID();
  const before = await Connection.open(restarted);
  await before.set("kept", value);
  const former = await enginePid(restarted.id);
  failpoints.arm(name);
  process.kill(former, "SIGKILL");
  await failpoints.reached();
  before.close();
  const pid = step.hasEngine ? await enginePid(restarted.id) : null;
  strike(victim, pid);
  await pilvi.untilReady();

  const killed = victim === "engine" ? pid : former;
  await until("another engine runs", () => hasOther(restarted.id, killed));
  await expectAll();
  if (pid !== null && victim !== "engine") expect(await enginePid(restarted.id)).toBe(pid);
  const after = await Connection.open(restarted);
  expect(await after.get("kept")).toBe(value);
  after.close();
  table.passed("restart", name, victim, performance.now() - startedAt);
}

/** Kills, and releases the survivors that wait at the step. */
function strike(victim: Victim, pid: number | null): void {
  if (victim === "engine" && pid !== null) killIfThere(pid);
  if (victim === "both") pilvi.kill("control", "host");
  if (victim === "control" || victim === "host") pilvi.kill(victim);
  failpoints.release();
}

function create(key: string): Promise<Answer<CacheDocument>> {
  const body = cacheBody({ eviction_policy: "noeviction" });
  return pilvi.api<CacheDocument>("POST", "/caches", body, { "idempotency-key": key });
}

function resourceOf(answer: Answer<CacheDocument> | null): CacheResource | null {
  return answer?.status === 201 ? answer.body.data : null;
}

/** The pid of the only engine; for a moment after its start a process does not have its name yet. */
async function enginePid(id: string): Promise<number> {
  await until(`${id} has one engine`, () => pilvi.enginePids(id).length === 1);
  return pilvi.enginePids(id)[0] ?? 0;
}

/** A connection, as soon as it is possible: another cache may have reached the step a moment earlier. */
async function openSoon(cache: CacheResource): Promise<Connection> {
  let connection: Connection | null = null;
  await until(`${cache.id} can be reached`, async () => {
    connection = await Connection.open(cache).catch(() => null);
    return connection !== null;
  });
  return connection ?? (await Connection.open(cache));
}

function hasOther(id: string, killed: number | null): boolean {
  return pilvi.enginePids(id).some((pid) => pid !== killed && isAlive(pid));
}

async function idleWork(id: string): Promise<number> {
  const rows = await store`select from work where id = ${id} and owner is null and deadline_at is null`;
  return rows.length;
}

async function expectUsable(cache: CacheResource): Promise<void> {
  const connection = await Connection.open(cache);
  await connection.set("greeting", "moi");
  expect(await connection.get("greeting")).toBe("moi");
  connection.close();
}

/** Only these caches and the two permanent caches of the matrix exist, and the bystander noticed nothing. */
async function expectAll(...others: CacheResource[]): Promise<void> {
  const caches = [bystander.cache, restarted, ...others];
  await expectExactly(
    pilvi,
    store,
    caches.map((cache) => cache.id),
  );
  const ports = caches.map((cache) => cache.attributes.connection.port).sort((a, b) => a - b);
  // An engine that was just started again may not listen yet.
  await until("exactly these ports are listened at", async () =>
    Bun.deepEquals(await listeningPorts(PORTS), ports),
  );
  expect(await enginePid(bystander.cache.id)).toBe(bystander.pid);
  expect(await bystander.connection.get("kept")).toBe("from before");
}
