// Runs the load against a server, on another core than the server's, and reads its output.
import { CannotMeasure } from "./bench.ts";
import { untilIdle, type RealtimeServer } from "./realtime.ts";
import type { RealtimeBench } from "./realtime-tools.ts";

const LOAD_CORE = "1";

/** The parameters of a load, by the names of the load's options. */
export interface LoadOptions {
  subscribers: number;
  /** Each publisher has one event outstanding. */
  publishers?: number;
  publishes?: number;
  /** Events before the measured ones. */
  warmUp?: number;
  /** Publishes a second; without it, each publish follows the former at once. */
  rate?: number;
  seconds?: number;
}

/** The result of a load. */
export interface LoadResult {
  /** Publishes, or connections in a load without publishes. */
  count: number;
  seconds: number;
  /** Processor time of the whole server. */
  cpuSeconds: number;
  /** In a load with publishes: the number of deliveries to subscribers, and their times since the publish. */
  deliveries: number;
  deliveryMs: { p50: number; p99: number };
}

/** Connections that stay open. */
export interface Held {
  result: LoadResult;
  release(): Promise<void>;
}

type Mode = "fanout" | "connect" | "idle" | "publish";

/** Runs a load to its end, on a server that has finished the former load. */
export async function load(
  bench: RealtimeBench,
  server: RealtimeServer,
  mode: Exclude<Mode, "idle">,
  options: LoadOptions,
): Promise<LoadResult> {
  await untilIdle(server);
  const child = start(bench, server, mode, options);
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new CannotMeasure(`The load of ${server.name} has failed.`);
  return JSON.parse(text) as LoadResult;
}

/** Opens a number of subscribed connections, which stay until they are released. */
export async function holdIdle(
  bench: RealtimeBench,
  server: RealtimeServer,
  options: LoadOptions,
): Promise<Held> {
  const child = start(bench, server, "idle", options);
  const release = async () => {
    child.kill();
    await child.exited;
  };
  bench.atEnd(release);
  for await (const chunk of child.stdout)
    return { result: JSON.parse(new TextDecoder().decode(chunk)) as LoadResult, release };
  throw new CannotMeasure(`The load of ${server.name} has failed.`);
}

function start(
  bench: RealtimeBench,
  { pid, port, appId, key, secret }: RealtimeServer,
  mode: Mode,
  { warmUp, ...options }: LoadOptions,
): Bun.Subprocess<"pipe", "pipe", "inherit"> {
  const words = Object.entries({ pid, port, app: appId, key, "warm-up": warmUp ?? 0, ...options });
  const argv = words.flatMap(([name, value]) => [`--${name}`, String(value)]);
  return Bun.spawn(["taskset", "-c", LOAD_CORE, bench.programs.load, mode, ...argv], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: bench.folder,
    env: { LOAD_SECRET: secret },
  });
}
