// The gateway as a process: its privileges, its certificate, and its restarts.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { Redis } from "ioredis";
import { cacheSpec } from "../../../src/drivers/test-support.ts";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket } from "../../../src/host/os/layout.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { isAlive } from "../../support/pilvi/processes.ts";

const PASSWORD = "a password of the test";

let pilvi: TestPilvi;
let port: number;
let engine: number;

beforeAll(async () => {
  pilvi = await startPilvi();
  // The host itself is asked, so that only host and gateway take part.
  port = Number(pilvi.env.PILVI_PORT_RANGE?.split("-")[1]);
  const exposure = { port, scope: "loopback", through: "gateway" } as const;
  const spec = { ...cacheSpec(port, PASSWORD), id: "behind-the-gateway", exposure };
  const { state } = await localDriver(hostSocket(pilvi.dataDir)).ensure(spec);
  expect(state).toBe("running");
  engine = pilvi.enginePids(spec.id)[0] ?? 0;
});

afterAll(async () => {
  // Earlier tests kill the host, and a host that was just started does not listen yet.
  await pilvi.untilReady();
  await localDriver(hostSocket(pilvi.dataDir)).remove("behind-the-gateway");
  await pilvi.close();
});

function gatewayPid(): number {
  return pilvi.runningPid("gateway");
}

/** Whether the address has a listener. */
function isOpen(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });
}

/** The address stays open until the last thread of a killed process has ended; only then is there another process. */
async function untilAnotherListens(former: number): Promise<void> {
  await until("there is another one", () => ![undefined, former].includes(pilvi.pidOf("gateway")));
  await until("it listens", isOpen);
}

function client(tls?: { ca: string; servername?: string }): Redis {
  return new Redis({ port, host: "127.0.0.1", password: PASSWORD, ...(tls === undefined ? {} : { tls }) });
}

test("clients verify it with the authority that `pilvi ca` prints, by address and by name", async () => {
  const { stdout: ca, code } = await pilvi.run("ca");
  expect(code).toBe(0);
  for (const name of [{}, { servername: "localhost" }]) {
    const redis = client({ ca, ...name });
    expect(await redis.ping()).toBe("PONG");
    redis.disconnect();
  }
  const other = await new Promise<string>((resolve) => {
    const socket = connectTls({ port, host: "127.0.0.1", ca, servername: "other.example.com" }, () =>
      resolve("let in"),
    );
    socket.on("error", (error) => resolve(error.message));
  });
  expect(other).toMatch(/altnames|host/i);
});

test("a killed gateway is back, and the engine has not noticed", async () => {
  for (let round = 0; round < 3; round += 1) {
    const former = gatewayPid();
    process.kill(former, "SIGKILL");
    await untilAnotherListens(former);
  }
  const redis = client();
  expect(await redis.ping()).toBe("PONG");
  redis.disconnect();
  expect(isAlive(engine)).toBe(true);
});

test("a gateway that is stopped ends cleanly and releases the address, and `pilvi up` starts it again", async () => {
  const former = gatewayPid();
  process.kill(former, "SIGTERM");
  await untilAnotherListens(former);
  expect(isAlive(former)).toBe(false);
  const log = await Bun.file(join(pilvi.dataDir, "log", "gateway.log")).text();
  expect(log).toContain('"reason":"signal"');
});

test("a gateway that is killed together with the host serves again when the host is back", async () => {
  const former = gatewayPid();
  pilvi.kill("host", "gateway");
  await untilAnotherListens(former);
  const redis = client();
  expect(await redis.ping()).toBe("PONG");
  redis.disconnect();
  expect(isAlive(engine)).toBe(true);
});
