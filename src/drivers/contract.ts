// The contract of every driver, as tests: the same tests for processes on this machine and for pods of a cluster.
import { describe, expect, test } from "bun:test";
import { NO_POLICY } from "../contracts/edge-route.ts";
import type { StorageReading } from "../contracts/host-answers.ts";
import type { CacheSpec } from "../contracts/instance-spec.ts";
import type { Observation } from "../contracts/observation.ts";
import type { Driver } from "./driver.ts";
import { cacheSpec, specsOf } from "./test-support.ts";

/** What a driver's tests provide. */
export interface ContractOptions {
  driver(): Driver;
  /** A port at which no program listens. */
  freePort(): number;
  /** Ends the engine of an instance from outside, like a crash. */
  crash(id: string): void;
  /** Whether a login at the port with this password works. */
  canLogIn(port: number, password: string): Promise<boolean>;
}

/** Runs the contract's tests against a driver. */
export function testDriverContract(name: string, options: ContractOptions): void {
  describe(`the driver ${name}`, () => {
    placing(options);
    everyKind(options);
    lifecycle(options);
    changes(options);
    sleeping(options);
    watching(options);
    routing(options);
  });
}

function placing({ driver, freePort }: ContractOptions): void {
  test("offers engines, and the memory of where it runs", async () => {
    const offer = await driver().offer();
    expect(offer.engines.map((engine) => engine.name)).toContain("valkey");
    expect(offer.memoryBytes).toBeGreaterThan(0);
  });

  test("names the ports that no program listens on", async () => {
    const [free, taken] = [freePort(), freePort()];
    const listener = Bun.listen({ hostname: "127.0.0.1", port: taken, socket: { data() {} } });
    expect(await driver().freePorts([taken, free])).toEqual([free]);
    expect(await driver().freePorts([])).toEqual([]);
    listener.stop(true);
    expect(await driver().freePorts([taken])).toEqual([taken]);
  });
}

function everyKind({ driver, freePort, crash }: ContractOptions): void {
  test.each(Object.keys(specsOf(1)))(
    "runs %s, starts it again when it crashed, and leaves nothing of it",
    async (name) => {
      const spec = specsOf(freePort())[name];
      if (spec === undefined) throw new Error("there is a spec of every kind");
      const seen = await driver().ensure(spec);
      expect(seen).toMatchObject({
        id: spec.id,
        state: "running",
        lastError: null,
        crashes: 0,
        engine: { name },
      });
      expect(await driver().ensure(spec)).toEqual(seen);
      crash(spec.id);
      await untilSeen(driver(), spec.id, ({ state, crashes }) => state === "running" && crashes === 1);
      if (spec.exposure.through === "gateway") {
        expect(await driver().suspend(spec.id)).toMatchObject({ state: "asleep" });
        expect(await driver().ensure(spec)).toMatchObject({ state: "asleep", engine: { name } });
      }
      await driver().remove(spec.id);
      expect((await driver().observe(spec.id)).state).toBe("absent");
    },
  );
}

async function untilSeen(driver: Driver, id: string, isSeen: (seen: Observation) => boolean): Promise<void> {
  while (!isSeen(await driver.observe(id))) await Bun.sleep(10);
}

function lifecycle({ driver, freePort, canLogIn }: ContractOptions): void {
  test("makes an instance that can be reached, and leaves nothing of it", async () => {
    const spec = cacheSpec(freePort(), "moi");
    expect((await driver().observe(spec.id)).state).toBe("absent");
    const seen = await driver().ensure(spec);
    expect(seen).toMatchObject({ id: spec.id, state: "running", lastError: null, crashes: 0 });
    expect(seen.engine?.name).toBe("valkey");
    expect(await canLogIn(spec.exposure.port ?? 0, "moi")).toBe(true);
    await driver().remove(spec.id);
    expect((await driver().observe(spec.id)).state).toBe("absent");
    expect(await canLogIn(spec.exposure.port ?? 0, "moi")).toBe(false);
  });

  test("can be asked for the same many times, at the same time too", async () => {
    const spec = cacheSpec(freePort(), "moi");
    const seen = await Promise.all([1, 2, 3].map(() => driver().ensure(spec)));
    const again = await driver().ensure(spec);
    for (const each of seen) expect(each).toEqual(again);
    await Promise.all([driver().remove(spec.id), driver().remove(spec.id)]);
    await driver().remove(spec.id);
  });

  test("an instance without figures reports none, and an instance that does not run is refused", async () => {
    const spec = cacheSpec(freePort(), "moi");
    await expect(driver().figures(spec.id)).rejects.toThrow(`${spec.id} does not run.`);
    await driver().ensure(spec);
    expect(await driver().figures(spec.id)).toEqual({ whole: {}, parts: [] });
    await driver().remove(spec.id);
  });

  test("reports the storage of an instance, and all storage for an unknown cursor", async () => {
    const spec = cacheSpec(freePort(), "moi");
    await driver().ensure(spec);
    const reading = await untilMeasured(driver(), spec.id);
    expect(reading.bytes[spec.id]).toBeGreaterThan(0);
    expect((await driver().storage("unknown")).bytes).toHaveProperty(spec.id);
    await driver().remove(spec.id);
  });

  test("takes an id only once, so that an order that is late brings nothing back", async () => {
    const spec = cacheSpec(freePort(), "moi");
    await driver().ensure(spec);
    const [, late] = await Promise.allSettled([driver().remove(spec.id), driver().ensure(spec)]);
    await driver()
      .ensure(spec)
      .catch(() => undefined);
    expect((await driver().observe(spec.id)).state).toBe("absent");
    if (late.status === "fulfilled") expect(late.value.id).toBe(spec.id);
  });
}

function changes({ driver, freePort, canLogIn, crash }: ContractOptions): void {
  test("puts a changed spec into force", async () => {
    const spec = cacheSpec(freePort(), "former");
    const port = spec.exposure.port ?? 0;
    await driver().ensure(spec);
    const changed = cacheSpec(port, "present", { id: spec.id, memoryBytes: 32 * 1024 ** 2 });
    const seen = await driver().ensure(changed);
    expect(seen.limits?.memoryBytes).toBe(32 * 1024 ** 2);
    expect(await canLogIn(port, "former")).toBe(false);
    expect(await canLogIn(port, "present")).toBe(true);
    await driver().remove(spec.id);
  });

  test("says why an instance does not run, and runs it when it can", async () => {
    const port = freePort();
    const squatter = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
    const spec = cacheSpec(port, "moi");
    const seen = await driver().ensure(spec);
    expect(seen).toMatchObject({ state: "failed", crashes: 0 });
    expect(seen.lastError).toContain(String(port));
    squatter.stop(true);
    while ((await driver().ensure(spec)).state !== "running") await Bun.sleep(10);
    await driver().remove(spec.id);
  });

  test("starts what crashed without being asked", async () => {
    const spec = cacheSpec(freePort(), "moi");
    await driver().ensure(spec);
    crash(spec.id);
    const isBack = async () => {
      const { state, crashes } = await driver().observe(spec.id);
      return state === "running" && crashes === 1;
    };
    while (!(await isBack())) await Bun.sleep(10);
    expect(await canLogIn(spec.exposure.port ?? 0, "moi")).toBe(true);
    await driver().remove(spec.id);
  });
}

function behindGateway(port: number): CacheSpec {
  const exposure = { port, scope: "loopback", through: "gateway" } as const;
  return cacheSpec(port, "moi", { exposure, sleepAfterSeconds: 60 });
}

function sleeping({ driver, freePort, canLogIn }: ContractOptions): void {
  test("puts an instance to sleep, and leaves it asleep as long as nobody needs it", async () => {
    const spec = behindGateway(freePort());
    const awake = await driver().ensure(spec);
    expect(awake).toMatchObject({ state: "running", sleep: { state: "awake", wakes: 0, lastWake: null } });
    const asleep = await driver().suspend(spec.id);
    expect(asleep).toMatchObject({ state: "asleep", sleep: { state: "asleep", wakes: 0 }, lastError: null });
    expect(await driver().suspend(spec.id)).toEqual(asleep);
    expect(await driver().ensure(spec)).toEqual(asleep);
    expect(await driver().ensure({ ...spec, sleepAfterSeconds: 120 })).toMatchObject({ state: "asleep" });
    expect((await driver().observe(spec.id)).state).toBe("asleep");
    await driver().remove(spec.id);
    expect((await driver().observe(spec.id)).state).toBe("absent");
  });

  test("says of what cannot sleep why it cannot", async () => {
    const spec = cacheSpec(freePort(), "moi");
    await expect(driver().suspend(spec.id)).rejects.toThrow(`${spec.id} does not run.`);
    await driver().ensure(spec);
    expect((await driver().observe(spec.id)).sleep).toBeNull();
    await expect(driver().suspend(spec.id)).rejects.toThrow("listens by itself");
    expect(await canLogIn(spec.exposure.port ?? 0, "moi")).toBe(true);
    await driver().remove(spec.id);
  });

  test("starts a sleeping instance that is to listen by itself", async () => {
    const spec = behindGateway(freePort());
    const port = spec.exposure.port ?? 0;
    await driver().ensure(spec);
    await driver().suspend(spec.id);
    const own = { ...spec, exposure: { ...spec.exposure, through: "engine" as const } };
    expect(await driver().ensure(own)).toMatchObject({ state: "running", sleep: null });
    expect(await canLogIn(port, "moi")).toBe(true);
    await driver().remove(spec.id);
  });
}

function watching({ driver, freePort, crash }: ContractOptions): void {
  test("reports every instance, and then every change", async () => {
    const spec = cacheSpec(freePort(), "moi");
    await driver().ensure(spec);
    const states: Observation["state"][] = [];
    const end = new AbortController();
    const synced = Promise.withResolvers<string[]>();
    const changed = (seen: Observation) => void (seen.id === spec.id && states.push(seen.state));
    driver().watch({ changed, synced: synced.resolve }, end.signal);
    expect(await synced.promise).toContain(spec.id);
    expect(states).toEqual(["running"]);
    crash(spec.id);
    while (states.length < 3) await Bun.sleep(5);
    await driver().remove(spec.id);
    while (states.at(-1) !== "absent") await Bun.sleep(5);
    end.abort();
    expect(states).toEqual(["running", "starting", "running", "removing", "absent"]);
  });
}

function routing({ driver, freePort }: ContractOptions): void {
  test("leads names to instances, and keeps that while there is no edge", async () => {
    const [port, edgePort] = [freePort(), freePort()];
    const [{ realtime }, { haproxy }] = [specsOf(port), specsOf(edgePort)];
    if (realtime === undefined || haproxy === undefined) throw new Error("there is a spec of every kind");
    const route = {
      id: "env-1",
      names: ["a.localhost"],
      instances: [realtime.id],
      settings: { timeoutSeconds: 5, policy: NO_POLICY },
    };
    await driver().ensureRoute(route);
    expect(await driver().routes()).toEqual([route]);
    await driver().ensure(realtime);
    await driver().ensure(haproxy);
    const direct = await through(port, "a.localhost");
    expect(await through(edgePort, "a.localhost")).toBe(direct);
    await driver().ensureRoute({ ...route, names: ["b.localhost"] });
    expect(await through(edgePort, "b.localhost")).toBe(direct);
    expect(await through(edgePort, "a.localhost")).not.toBe(direct);
    await driver().removeRoute(route.id);
    await driver().removeRoute(route.id);
    expect(await driver().routes()).toEqual([]);
    expect(await through(edgePort, "b.localhost")).not.toBe(direct);
    await Promise.all([driver().remove(haproxy.id), driver().remove(realtime.id)]);
  });

  test("refuses a route that is malformed, and names the member", async () => {
    const route = {
      id: "env-1",
      names: [],
      instances: [],
      settings: { timeoutSeconds: 5, policy: NO_POLICY },
    };
    for (const name of ["A.localhost", "a b", "a_b.localhost", "a..b", "*.a", `${"a".repeat(64)}.b`, ""])
      await expect(driver().ensureRoute({ ...route, names: [name] })).rejects.toThrow("names.0");
    await expect(
      driver().ensureRoute({ ...route, settings: { timeoutSeconds: 0, policy: NO_POLICY } }),
    ).rejects.toThrow("settings.timeoutSeconds");
    const many = Array.from({ length: 201 }, (_, index) => `a${index}.localhost`);
    await expect(driver().ensureRoute({ ...route, names: many })).rejects.toThrow("names");
    expect(await driver().routes()).toEqual([]);
  });
}

/** The answer to a request for a name. */
async function through(port: number, name: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/nowhere`, { headers: { host: name } });
  return await response.text();
}

async function untilMeasured(driver: Driver, id: string): Promise<StorageReading> {
  const giveUpAt = Date.now() + 120_000;
  while (Date.now() < giveUpAt) {
    const reading = await driver.storage();
    if (id in reading.bytes) return reading;
    await Bun.sleep(50);
  }
  throw new Error(`${id} was not measured`);
}
