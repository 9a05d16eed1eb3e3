// The local driver with a real host behind it.
import { afterAll, beforeAll } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { enginePidsAt, freshDataDir, freePort } from "../../../tests/support/pilvi.ts";
import { loadConfig } from "../../config.ts";
import { Host } from "../../host/host.ts";
import { hostSocket } from "../../host/layout.ts";
import { serveHost } from "../../host/server.ts";
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
