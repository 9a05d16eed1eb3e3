// The address of an instance is its own for life: no other program can take it under kills of any process of Pilvi, and
// a program that had the port before is reported.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Redis } from "ioredis";
import { cacheSpec } from "../../../src/drivers/test-support.ts";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket } from "../../../src/host/os/layout.ts";
import {
  startPilvi,
  until,
  type CacheDocument,
  type ProcessName,
  type TestPilvi,
} from "../../support/pilvi/pilvi.ts";

const PASSWORD = "a password of the test";
/** A user that owns nothing of Pilvi. */
const OTHER_UID = 54_321;

/** Tries without a pause to listen at a port, as most servers do, and reports success. */
const GRAB = `
  const { writeSync } = require("node:fs");
  writeSync(1, "tries ");
  for (;;) {
    try {
      Bun.listen({ hostname: "127.0.0.1", port: Number(process.argv.at(-1)), socket: { data() {} } });
      writeSync(1, "taken");
      break;
    } catch {}
  }`;

let pilvi: TestPilvi;
const grabbers: Bun.Subprocess[] = [];

beforeAll(async () => {
  pilvi = await startPilvi();
});
afterEach(() => endGrabbers());
afterAll(() => pilvi.close());

async function endGrabbers(): Promise<void> {
  for (const grabber of grabbers) grabber.kill("SIGKILL");
  await Promise.all(grabbers.splice(0).map(({ exited }) => exited));
}

function driver() {
  return localDriver(hostSocket(pilvi.dataDir));
}

/** Two programs that try to take a port; resolves when they do. @returns their output. */
async function grab(port: number): Promise<() => string> {
  let said = "";
  for (let count = 0; count < 2; count++) {
    const grabber = Bun.spawn([pilvi.builtProgram()[0], "-e", GRAB, "--", String(port)], {
      stdio: ["ignore", "pipe", "ignore"],
      ...(process.getuid?.() === 0 ? { uid: OTHER_UID, gid: OTHER_UID } : {}),
    });
    grabbers.push(grabber);
    void (async () => {
      for await (const bytes of grabber.stdout) said += new TextDecoder().decode(bytes);
    })();
  }
  await until("both try", () => said.split("tries").length === 3);
  return () => said;
}

async function sleeper(id: string, through: "gateway" | "engine") {
  const port = Number(pilvi.env.PILVI_PORT_RANGE?.split("-")[1]) - (through === "engine" ? 1 : 0);
  const exposure = { port, scope: "loopback", through } as const;
  const spec = { ...cacheSpec(port, PASSWORD), id, exposure };
  expect((await driver().ensure(spec)).state).toBe("running");
  return spec;
}

/** Connects again and again until it is stopped; counts the refused connections. */
function knock(port: number) {
  const state = { refused: 0, connected: 0, isOver: false };
  const again = (): void => {
    if (state.isOver) return;
    const socket: Socket = connect(port, "127.0.0.1", () => {
      state.connected += 1;
      socket.destroy();
    });
    socket.on("error", () => (state.refused += 1)).on("close", () => setTimeout(again, 1));
  };
  again();
  return state;
}

async function kill(name: ProcessName): Promise<void> {
  const former = pilvi.pidOf(name);
  pilvi.kill(name);
  await until(`there is another ${name}`, () => ![undefined, former].includes(pilvi.pidOf(name)));
}

async function answers(port: number): Promise<string> {
  const redis = new Redis({ port, host: "127.0.0.1", password: PASSWORD });
  redis.on("error", () => {});
  const answer = await redis.ping();
  redis.disconnect();
  return answer;
}

test.each(["gateway", "host"] as const)(
  "nobody takes the address of a sleeping instance, and nobody is refused there, when the %s is killed",
  async (name) => {
    const spec = await sleeper(`asleep-${name}`, "gateway");
    expect((await driver().suspend(spec.id)).state).toBe("asleep");
    const said = await grab(spec.exposure.port);
    const clients = knock(spec.exposure.port);
    for (let round = 0; round < 3; round++) await kill(name);
    expect(await answers(spec.exposure.port)).toBe("PONG");
    clients.isOver = true;
    expect(clients.connected).toBeGreaterThan(0);
    expect([said(), clients.refused]).toEqual(["tries tries ", 0]);
    await until(
      "the host answers",
      async () =>
        await driver()
          .remove(spec.id)
          .then(
            () => true,
            () => false,
          ),
    );
  },
);

test("no program takes an address while it moves from a running engine to the gateway", async () => {
  const own = await sleeper("changing", "engine");
  const said = await grab(own.exposure.port);
  await driver().ensure({ ...own, exposure: { ...own.exposure, through: "gateway" as const } });
  expect((await driver().suspend(own.id)).state).toBe("asleep");
  expect(await answers(own.exposure.port)).toBe("PONG");
  expect(said()).toBe("tries tries ");
  await driver().remove(own.id);
});

test("an address moves to the engine, to the gateway and back again", async () => {
  const own = await sleeper("back-and-forth", "engine");
  for (let round = 0; round < 3; round++) {
    await driver().ensure({ ...own, exposure: { ...own.exposure, through: "gateway" as const } });
    expect((await driver().suspend(own.id)).state).toBe("asleep");
    expect(await driver().ensure(own)).toMatchObject({ state: "running", sleep: null });
    expect(await answers(own.exposure.port)).toBe("PONG");
  }
  await driver().remove(own.id);
});

test("a port that another program had before Pilvi started is reported, and taken as soon as it is free", async () => {
  const cache = await pilvi.createCache({ uses_hibernation: true });
  const { port } = cache.attributes.connection;
  expect((await driver().suspend(cache.id)).state).toBe("asleep");
  await pilvi.stop();
  const squatter = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  await pilvi.start();
  const read = async () => (await pilvi.api<CacheDocument>("GET", `/caches/${cache.id}`)).body.data;
  await until("the owner sees the reason", async () => {
    const { attributes, meta } = await read();
    const isReported = meta.last_error === `Port ${port} is in use by another program on this machine.`;
    return isReported && attributes.status === "updating";
  });
  const { status } = await pilvi.api("POST", `/caches/${cache.id}/suspend`);
  expect(status).not.toBe(200);
  squatter.stop(true);
  expect((await pilvi.untilStatus(cache.id, "available")).meta.last_error).toBeNull();
});
