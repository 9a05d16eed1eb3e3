// The local driver with a real host behind it.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir, until } from "../../../tests/support/pilvi/pilvi.ts";
import { enginePidsAt } from "../../../tests/support/pilvi/processes.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../../config.ts";
import { Host, type Listener } from "../../host/host.ts";
import { hostSocket } from "../../host/os/layout.ts";
import { serveHost } from "../../host/server.ts";
import { PublicError } from "../../lib/errors.ts";
import { createLog } from "../../lib/log.ts";
import { ensureProgram } from "../../processes/program/program.ts";
import { realtimeEngine } from "../../processes/program/own-engines.ts";
import { VersionMismatch } from "../../contracts/versions.ts";
import { testDriverContract } from "../contract.ts";
import type { Observation } from "../../contracts/observation.ts";
import { cacheSpec } from "../test-support.ts";
import { localDriver } from "./index.ts";

const dataDir = freshDataDir();
const log = createLog("host", "silent");
const host = new Host(
  {
    dataDir,
    enginesDir: loadConfig(process.env).enginesDir,
    bind: "127.0.0.1",
    certificate: null,
    warmSlots: 0,
    cgroups: null,
    ownEngines: [realtimeEngine(await ensureProgram(dataDir))],
    allowPrivateWebhooks: false,
  },
  log,
);
let stopServing: () => Promise<void>;

beforeAll(async () => {
  await host.start();
  stopServing = serveHost(host, hostSocket(dataDir), log);
});

afterAll(async () => {
  await stopServing();
  await host.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test("a request for readings to a hanging host times out", async () => {
  const unix = join(dataDir, "hanging.sock");
  const hanging = Bun.serve({ unix, fetch: () => new Promise<Response>(() => {}) });
  try {
    const asked = localDriver(unix, { metricsTimeoutMs: 10 }).readings(undefined);
    expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(PublicError);
  } finally {
    await hanging.stop(true);
  }
});

test("a removal goes on when nobody waits for it any more, and the next call waits for its end", async () => {
  const unix = join(dataDir, "removing.sock");
  const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>();
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const removing = Object.assign(Object.create(host) as Host, {
    remove: async (id: string) => {
      noteAsked();
      await held;
      await host.remove(id);
    },
  });
  const spec = cacheSpec(freePort(), "moi");
  const stop = serveHost(removing, unix, log);
  const driver = localDriver(unix);
  const run = new AbortController();
  try {
    await host.ensure(spec);
    const removed = driver.remove(spec.id, run.signal).catch((error: unknown) => error);
    await asked;
    run.abort();
    expect(await removed).toBeInstanceOf(PublicError);
    expect(host.observe(spec.id).state).toBe("running");
    const again = driver.remove(spec.id, new AbortController().signal);
    letGo();
    await again;
    expect(host.observe(spec.id).state).toBe("absent");
    expect(enginePidsAt(join(dataDir, "instances", spec.id))).toEqual([]);
  } finally {
    letGo();
    await stop();
  }
});

test("the cause of a host's error is in its log and not in its answer", async () => {
  const unix = join(dataDir, "failing.sock");
  const logged: unknown[] = [];
  const failing = Object.assign(Object.create(host) as Host, {
    suspend: () => Promise.reject(new Error(`EACCES: permission denied, open '${dataDir}/secret'`)),
  });
  const error = (about: object) => void logged.push(about);
  const stop = serveHost(failing, unix, Object.assign(Object.create(log) as typeof log, { error }));
  try {
    await expect(localDriver(unix).suspend("cache-1")).rejects.toThrow(
      new PublicError("The host of this machine failed; its log says why."),
    );
    expect(logged).toEqual([
      { error: expect.objectContaining({ message: expect.stringContaining("EACCES") }) },
    ]);
  } finally {
    await stop();
  }
});

test("a host of another version is logged once, and asked again until it has the right version", async () => {
  const unix = join(dataDir, "other.sock");
  let requests = 0;
  const options = {
    unix,
    fetch: () => Response.json({ message: "There is nothing here." }, { status: 404 }),
  };
  const other = Bun.serve({ ...options, fetch: () => (++requests, options.fetch()) });
  const complaints: unknown[] = [];
  const end = new AbortController();
  const synced = Promise.withResolvers<string[]>();
  const driver = localDriver(unix, { log: { error: (said: unknown) => void complaints.push(said) } });
  try {
    await expect(driver.offer()).rejects.toThrow(
      "The host of this machine is of another version than what asks it: start both from the same Pilvi.",
    );
    driver.watch({ changed: () => undefined, synced: synced.resolve }, end.signal);
    await until("it was asked again", () => requests > 2);
    expect(complaints).toEqual([{ error: expect.any(VersionMismatch) }]);
  } finally {
    await other.stop(true);
  }
  const stop = serveHost(host, unix, log);
  expect(await synced.promise).toEqual([]);
  end.abort();
  await stop();
});

test("a watch repeats instances that are not at rest, and each change once", async () => {
  const unix = join(dataDir, "repeating.sock");
  const states: Record<string, Observation["state"]> = {
    first: "asleep",
    second: "asleep",
    third: "running",
  };
  const observe = (id: string) => ({ ...host.observe(id), state: states[id] ?? "absent" });
  const listener = Promise.withResolvers<Listener>();
  const repeating = Object.assign(Object.create(host) as Host, {
    observe,
    ids: () => Object.keys(states),
    restlessIds: () => Object.keys(states).filter((id) => states[id] !== "asleep"),
    listen: (listens: Listener) => (listener.resolve(listens), () => undefined),
  });
  const stop = serveHost(repeating, unix, log, 5);
  const seen: string[] = [];
  const timesOf = (id: string) => seen.filter((each) => each === id).length;
  const end = new AbortController();
  const changed = ({ id }: Observation) => void seen.push(id);
  const synced = Promise.withResolvers<string[]>();
  localDriver(unix).watch({ changed, synced: synced.resolve }, end.signal);
  try {
    expect(await synced.promise).toEqual(["first", "second", "third"]);
    (await listener.promise)(observe("second"));
    await until("the change was repeated", () => timesOf("second") === 3);
    const before = timesOf("third");
    await until("the running instance was repeated", () => timesOf("third") >= before + 3);
    expect([timesOf("first"), timesOf("second")]).toEqual([1, 3]);
  } finally {
    end.abort();
    await stop();
  }
});

test("an unknown member of a spec is named in the refusal, and a request in another version is refused", async () => {
  const complaints = spyOn(log, "error").mockClear();
  const spec = { ...cacheSpec(freePort(), "moi"), colour: "blue" };
  await expect(localDriver(hostSocket(dataDir)).ensure(spec)).rejects.toThrow("colour is unknown");
  expect((await localDriver(hostSocket(dataDir)).observe(spec.id)).state).toBe("absent");
  complaints.mockClear();
  for (const path of ["/offer", `/v99/instances/${spec.id}`]) {
    const body = JSON.stringify(spec);
    const response = await fetch(`http://host${path}`, { unix: hostSocket(dataDir), method: "PUT", body });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      message: "The host was asked in another version than its own: start both sides from the same Pilvi.",
    });
  }
  expect(complaints).toHaveBeenCalledTimes(1);
});

testDriverContract("for this machine", {
  driver: () => localDriver(hostSocket(dataDir)),
  freePort,
  crash: (id) => {
    for (const pid of enginePidsAt(join(dataDir, "instances", id))) process.kill(pid, "SIGKILL");
  },
  canLogIn: async (port, password) => {
    const client = new Bun.RedisClient(`redis://:${password}@127.0.0.1:${port}`, {
      autoReconnect: false,
      connectionTimeout: 10_000,
    });
    try {
      return (await client.ping()) === "PONG";
    } catch {
      return false;
    } finally {
      client.close();
    }
  },
});
