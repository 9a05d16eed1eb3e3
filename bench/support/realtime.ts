// Starts the servers to measure: Pilvi's realtime server with all features on, or the baseline, each alone on one core.
import { mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REALTIME_VERSION, realtimePath } from "../../src/contracts/versions.ts";
import { REALTIME_ENV, realtime } from "../../src/engines/realtime/index.ts";
import { ensureProgram } from "../../src/processes/program/program.ts";
import type { ProcessConfig } from "../../src/contracts/realtime.ts";
import type { WebSocketApplication } from "../../src/contracts/websocket-application.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { CannotMeasure } from "./bench.ts";
import { cpuNs } from "./cpu.ts";
import type { RealtimeBench } from "./realtime-tools.ts";

const SERVER_CORE = "0";
/** More than the connections of any measurement. */
const MAX_CONNECTIONS = 20_000;
const START_MS = 20_000;
const IDLE_MS = 200;
/** A share of a core; timers take as much. */
const IDLE_SHARE = 0.02;

/** A server that can be loaded. */
export interface RealtimeServer {
  name: string;
  pid: number;
  port: number;
  appId: string;
  key: string;
  secret: string;
  stop(): Promise<void>;
}

/** Starts Pilvi's server with one application, built as the host runs it. It is stopped at the end at the latest. */
export async function startRealtime(bench: RealtimeBench): Promise<RealtimeServer> {
  const program = await ensureProgram(bench.folder);
  const folder = mkdtempSync(join(bench.folder, "server-"));
  const config = startConfig(folder, freePort());
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  // Not a pipe: reading it would take time from the measured cores.
  const log = openSync(join(folder, "log"), "a");
  const command = [program.bun, program.realtime, join(folder, "config.json")];
  const child = Bun.spawn(["taskset", "-c", SERVER_CORE, ...command], {
    stdio: ["ignore", log, log],
    cwd: folder,
    env: REALTIME_ENV,
  });
  const application = { appId: "10001", key: "bench-key", secret: Bun.randomUUIDv7() };
  const server = { name: "Pilvi", pid: child.pid, port: config.port, ...application, stop: stopOf(child) };
  bench.atEnd(server.stop);
  await untilReady(child, join(folder, "log"));
  await configure(config.controlSocket, application);
  return server;
}

async function untilReady(child: Bun.Subprocess, log: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  for (;;) {
    const text = readFileSync(log, "utf8");
    if (realtime.readyLine?.test(text) === true) return;
    if (child.exitCode !== null || performance.now() > giveUpAt)
      throw new CannotMeasure(`The realtime server does not start: ${text.trim()}`);
    await Bun.sleep(20);
  }
}

/** Starts the baseline; with `coalesce` it merges all pending bytes of a socket into one write. */
export async function startBaseline(
  bench: RealtimeBench,
  { coalesce = false } = {},
): Promise<RealtimeServer> {
  const options = coalesce ? ["--coalesce"] : [];
  const child = Bun.spawn(["taskset", "-c", SERVER_CORE, bench.programs.baseline, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: bench.folder,
  });
  const stop = stopOf(child);
  bench.atEnd(stop);
  for await (const chunk of child.stdout) {
    const port = Number(new TextDecoder().decode(chunk));
    const name = coalesce ? "C, merging (baseline)" : "C (baseline)";
    return { name, pid: child.pid, port, appId: "10001", key: "bench-key", secret: "unchecked", stop };
  }
  throw new CannotMeasure("The baseline does not start.");
}

/** Waits until the server has finished the work of the last load, and has collected its garbage. */
export async function untilIdle({ pid }: RealtimeServer): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  for (let before = cpuNs(pid); performance.now() < giveUpAt;) {
    await Bun.sleep(IDLE_MS);
    const now = cpuNs(pid);
    if (now - before < IDLE_SHARE * IDLE_MS * 1e6) return;
    before = now;
  }
}

function startConfig(folder: string, port: number): ProcessConfig {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  return {
    version: REALTIME_VERSION,
    id: "ws-bench",
    address: "127.0.0.1",
    port,
    controlSocket: join(folder, "control.sock"),
    dataDir,
    certificate: null,
    allowPrivateWebhooks: false,
  };
}

async function configure(
  controlSocket: string,
  { appId, key, secret }: { appId: string; key: string; secret: string },
): Promise<void> {
  const application: WebSocketApplication = {
    id: "wsa-1",
    appId,
    key,
    secrets: [{ secret, expiresAt: null }],
    allowedOrigins: [],
    pingIntervalSeconds: 60,
    activityTimeoutSeconds: 30,
    maxMessageBytes: 10_000,
    maxConnections: MAX_CONNECTIONS,
    clientEventsEnabled: true,
    subscriptionCountEnabled: true,
    webhooks: [],
  };
  const response = await fetch(`http://localhost${realtimePath("/config")}`, {
    method: "PUT",
    unix: controlSocket,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ maxConnections: MAX_CONNECTIONS, applications: [application] }),
  });
  if (!response.ok)
    throw new CannotMeasure(
      `The realtime server refuses its applications: ${response.status} ${await response.text()}`,
    );
}

function stopOf(child: Bun.Subprocess): () => Promise<void> {
  return async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
}
