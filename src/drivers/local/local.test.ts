// The local driver with a real host behind it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { enginePidsAt } from "../../../tests/support/pilvi/processes.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../../config.ts";
import { Host } from "../../host/host.ts";
import { hostSocket } from "../../host/os/layout.ts";
import { serveHost } from "../../host/server.ts";
import { PublicError } from "../../lib/errors.ts";
import { createLog } from "../../lib/log.ts";
import { testDriverContract } from "../contract.ts";
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
    ownEngines: [],
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

test("metrics of a host that hangs are not waited for", async () => {
  const unix = join(dataDir, "hanging.sock");
  const hanging = Bun.serve({ unix, fetch: () => new Promise<Response>(() => {}) });
  try {
    const asked = localDriver(unix, 10).metrics("ws-1", { periodSeconds: 60 });
    expect(await asked.catch((error: unknown) => error)).toBeInstanceOf(PublicError);
  } finally {
    await hanging.stop(true);
  }
});

test("an error of the host reaches nobody but its log", async () => {
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

testDriverContract("for this machine", {
  driver: () => localDriver(hostSocket(dataDir)),
  freePort,
  crash: (id) => {
    for (const pid of enginePidsAt(join(dataDir, "instances", id))) process.kill(pid, "SIGKILL");
  },
  canLogIn: async (port, password) => {
    const client = new Bun.RedisClient(`redis://:${password}@127.0.0.1:${port}`, {
      autoReconnect: false,
      connectionTimeout: 1_000,
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
