// A scenario of the crash matrix of WebSocket clusters: an operation that is stopped at a named step, where a process
// is killed.
import { expect } from "bun:test";
import type { ApplicationResource } from "../../src/resources/websockets/schema.ts";
import { until, type Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";
import {
  createServer,
  deleteServer,
  lets,
  orderServer,
  publish,
  untilServer,
  type ApplicationDocument,
  type TestServer,
} from "../support/pilvi/websockets.ts";
import type { Victim } from "./scenario.ts";
import { kill, killPilvi } from "./databases-disasters.ts";
import { scenariosAt, DELETE, ENSURE, LOOP, PREPARE, START } from "./steps.ts";

/** An operation, the step where it is stopped, and the victim that is killed there. */
export type Scenario = [operation: Operation, place: string, victim: Victim];

export type Operation = "create" | "delete" | Change;

/** Changes of a running cluster. */
type Change = "resize" | "create application" | "change application" | "rotate secret" | "delete application";

const BEFORE_ENGINE = ["create.written", "create.committed", "loop.taken", ...PREPARE];
const CHANGE = [...LOOP, "host.ensure.manifest", "host.ensure.ready", ...ENSURE];

const places: Record<Operation, string[]> = {
  create: [...BEFORE_ENGINE, ...START],
  resize: CHANGE,
  "create application": CHANGE,
  "change application": CHANGE,
  "rotate secret": CHANGE,
  "delete application": CHANGE,
  delete: DELETE,
};

/** All scenarios in which there is a process to kill. */
export function allScenarios(): Scenario[] {
  return scenariosAt(places, BEFORE_ENGINE);
}

/** What a scenario runs with. */
export interface Stage {
  pilvi: TestPilvi;
  failpoints: Failpoints;
}

/** Runs a scenario and checks that its end is the end of an undisturbed operation. */
export async function runScenario(stage: Stage, [operation, place, victim]: Scenario): Promise<void> {
  if (operation === "create") return await playCreate(stage, place, victim);
  const made = await createServer(stage.pilvi);
  if (operation === "delete") return await playDelete(stage, made, place, victim);
  stage.failpoints.arm(place);
  const check = await changes[operation](stage.pilvi, made);
  await killAt(stage, made.id, victim);
  await untilServer(stage.pilvi, made.id);
  // A server that was killed is available again when it lets clients in.
  await until("the change is in force", () => check().catch(() => false));
  // A server that was just killed shows no deleted application either, so its successor is waited for.
  await until("it runs, once", () => stage.pilvi.enginePids(made.id).length === 1);
  await deleteServer(stage.pilvi, made.id);
  stage.failpoints.letPass(made.id);
}

/** A kill at a step before the answer may cut off the request; then the client asks again. */
async function playCreate({ pilvi, failpoints }: Stage, place: string, victim: Victim): Promise<void> {
  failpoints.arm(place);
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const asked = orderServer(pilvi, {}, headers).catch(() => null);
  await killAt({ pilvi, failpoints }, undefined, victim);
  const made = (await asked) ?? (await orderServer(pilvi, {}, headers));
  const server = await untilServer(pilvi, made.id);
  expect(server.meta.url).toBe(made.server.meta.url);
  await until("clients are let in", () => lets(server, made.main).catch(() => false));
  await until("it runs, once", () => pilvi.enginePids(made.id).length === 1);
  await deleteServer(pilvi, made.id);
  failpoints.letPass(made.id);
}

async function playDelete(stage: Stage, { id }: TestServer, place: string, victim: Victim): Promise<void> {
  const { pilvi, failpoints } = stage;
  const pids = pilvi.enginePids(id);
  failpoints.arm(place);
  await pilvi.api("DELETE", `/websocket-servers/${id}`);
  await killAt(stage, id, victim);
  expect((await pilvi.api("GET", `/websocket-servers/${id}?wait=deleted`)).status).toBe(404);
  failpoints.letPass(id);
  await until("the host has forgotten it", () => !pilvi.instanceFolders().includes(id));
  await until("its process has ended", () => !pids.some(isAlive));
}

/** Each change is requested, and returns a check whether it is in force. */
const changes: Record<Change, (pilvi: TestPilvi, made: TestServer) => Promise<() => Promise<boolean>>> = {
  resize: async (pilvi, { id, server, main }) => {
    await pilvi.api("PATCH", `/websocket-servers/${id}`, { max_connections: 200 });
    return async () => {
      const seen = await untilServer(pilvi, id);
      return seen.meta.limits?.max_connections === 200 && (await lets(server, main));
    };
  },
  "create application": async (pilvi, { id, server }) => {
    const path = `/websocket-servers/${id}/applications`;
    const { body } = await pilvi.api<ApplicationDocument>("POST", path, { name: "website" });
    return () => lets(server, body.data);
  },
  "change application": async (pilvi, { server, main }) => {
    await pilvi.api("PATCH", pathOf(main), { allowed_origins: ["example.com"] });
    return async () =>
      (await lets(server, main, { Origin: "https://example.com" })) &&
      !(await lets(server, main, { Origin: "https://elsewhere.example" }));
  },
  "rotate secret": async (pilvi, { server, main }) => {
    const path = `${pathOf(main)}/rotate-secret`;
    const { body } = await pilvi.api<ApplicationDocument>("POST", path, { grace_seconds: 0 });
    const event = { channel: "news", name: "said", data: "hello" };
    const secret = main.attributes.secret ?? "";
    return async () =>
      (await publish(server, body.data, event)) === 200 &&
      (await publish(server, body.data, event, { secret })) === 401;
  },
  "delete application": async (pilvi, { server, main }) => {
    await pilvi.api("DELETE", pathOf(main));
    return async () => !(await lets(server, main));
  },
};

function pathOf({ id }: ApplicationResource): string {
  return `/websocket-applications/${id}`;
}

/**
 * Waits until the armed fail point is reached, kills there, lets the survivors go on, and waits until Pilvi has
 * recovered.
 */
async function killAt({ pilvi, failpoints }: Stage, id: string | undefined, victim: Victim): Promise<void> {
  await failpoints.reached();
  if (victim === "engine") {
    const known = id ?? pilvi.instanceFolders()[0] ?? "";
    const [pid = 0] = pilvi.enginePids(known);
    expect(pid).toBeGreaterThan(0);
    kill([pid]);
    failpoints.release();
    return;
  }
  const whole = killPilvi(pilvi, victim === "both" ? ["control", "host"] : [victim]);
  failpoints.release();
  await whole;
}
