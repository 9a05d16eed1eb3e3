// The gateway beside its own protocol handlers on the runtime's sockets and TLS: the value of a loop of our own.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { sha256Hex } from "../../../src/lib/secrets.ts";
import type { InstanceUser } from "../../../src/contracts/users.ts";
import { gatewayCertificateFile } from "../../../src/processes/tls/certificate-authority.ts";
import { CannotMeasure, type Bench } from "../bench.ts";
import { firstAnswer } from "../clients.ts";
import { cpuNs } from "../cpu.ts";
import { getRate, runPgbench, type Target, type Throughput } from "../load.ts";
import type { Program } from "../peers.ts";
import { gatewayPid } from "../pilvi-memory.ts";
import { microseconds, perSecond, printColumns, printRow, times } from "../report.ts";
import { socketOf, type Sleepy } from "../sleepers.ts";
import { median } from "../statistics.ts";
import type { RuntimeSettings } from "./main.ts";

/** A load for both sides. */
export interface Load {
  title: string;
  isTls: boolean;
  run(target: Target): Promise<Throughput>;
}

/** Rows of a kilobyte in a large result. */
const LARGE_ROWS = 1_000;

/** Loads of Postgres. @param folder for the scripts. */
export function postgresLoads(pgbench: Program, folder: string): Load[] {
  const script = join(mkdtempSync(join(folder, "scripts-")), "large.sql");
  writeFileSync(script, `select repeat('x', 1024) from generate_series(1, ${LARGE_ROWS});\n`);
  const load = (title: string, clients: number, each: number, args: string[], isTls = false): Load => ({
    title: `${title}, ${clients} client${clients === 1 ? "" : "s"}${isTls ? ", TLS" : ""}`,
    isTls,
    run: (target) => runPgbench(pgbench, target, [...args, `--client=${clients}`, `--transactions=${each}`]),
  });
  const select = ["--select-only"];
  const connect = ["--select-only", "--connect"];
  return [
    load("select-only", 1, 6_000, select),
    load("select-only", 16, 1_000, select),
    load("select-only", 64, 250, select),
    load("select-only", 16, 1_000, select, true),
    load("results of 1 MB", 4, 40, [`--file=${script}`]),
    load("results of 1 MB", 4, 40, [`--file=${script}`], true),
    load("a connection for each select", 16, 30, connect),
    load("a connection for each select", 16, 30, connect, true),
  ];
}

/** Loads of a cache. */
export function cacheLoads(benchmark: Program): Load[] {
  const load = (pipeline: number, requests: number, isTls: boolean): Load => ({
    title: `GET, 50 clients, pipeline ${pipeline}${isTls ? ", TLS" : ""}`,
    isTls,
    run: async (target) => ({
      count: requests,
      rate: await getRate(benchmark, target, { pipeline, requests }),
    }),
  });
  return [load(1, 60_000, false), load(16, 600_000, false), load(1, 60_000, true), load(16, 400_000, true)];
}

/** A side, and its figures in each round. */
interface Side {
  label: string;
  pid: number;
  target: Target;
  rates: number[];
  cpuUs: number[];
}

/** Measures each load on both sides, round by round in turn, and prints rates, processor time and their ratios. */
export async function compareLoops(
  bench: Bench,
  sleepy: Sleepy,
  loads: readonly Load[],
  rounds: number,
): Promise<void> {
  const { login, place } = sleepy;
  const { pid, port, tlsPort } = await startRuntime(bench, sleepy);
  for (const { title, isTls, run } of loads) {
    const runtime = side("same protocol handlers on the runtime's sockets", pid, {
      login,
      isTls,
      place: { hostname: "127.0.0.1", port: isTls && sleepy.protocol === "redis" ? tlsPort : port },
    });
    const gateway = side("gateway", gatewayPid(bench.pilvi), { login, isTls, place });
    // The first round warms both up and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      for (const each of round % 2 === 0 ? [runtime, gateway] : [gateway, runtime]) {
        const before = cpuNs(each.pid);
        const { rate, count } = await run(each.target);
        if (round === 0) continue;
        each.rates.push(rate);
        each.cpuUs.push((cpuNs(each.pid) - before) / count / 1e3);
      }
    }
    report(title, runtime, gateway);
  }
}

function side(label: string, pid: number, target: Target): Side {
  return { label, pid, target, rates: [], cpuUs: [] };
}

function report(title: string, runtime: Side, gateway: Side): void {
  console.log(`\n${title}`);
  printColumns("median", "CPU each", "x rate", "x CPU");
  for (const each of [runtime, gateway]) {
    const ratios =
      each === runtime ? [] : [ratio(each.rates, runtime.rates), ratio(each.cpuUs, runtime.cpuUs)];
    printRow(each.label, perSecond(median(each.rates)), microseconds(median(each.cpuUs)), ...ratios);
  }
}

/** The median of the rounds' ratios. */
function ratio(mine: readonly number[], other: readonly number[]): string {
  return times(median(mine.map((value, round) => value / (other[round] ?? Number.NaN))));
}

async function startRuntime(bench: Bench, sleepy: Sleepy) {
  const { pilvi } = bench;
  const [port, tlsPort] = [freePort(), freePort()];
  const [cert, key] = ["crt", "key"].map((extension) =>
    readFileSync(gatewayCertificateFile(pilvi.dataDir).replace(/crt$/, extension), "utf8"),
  );
  if (cert === undefined || key === undefined) throw new CannotMeasure("The gateway has no certificate.");
  const settings: RuntimeSettings = {
    entry: {
      id: sleepy.id,
      protocol: sleepy.protocol,
      address: "127.0.0.1",
      port,
      socket: socketOf(pilvi, sleepy),
      engine: { name: sleepy.protocol === "redis" ? "valkey" : "postgres", version: "0" },
      state: "running",
      lastError: null,
      users: usersOf(bench, sleepy),
      maxConnections: 10_000,
      sleepAfterSeconds: null,
      latestStart: null,
    },
    certificate: { cert, key },
    tlsPort,
  };
  const program = join(import.meta.dir, "main.ts");
  const child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], {
    cwd: pilvi.dataDir,
    // Like a service it has a session of its own, by which the kernel shares out the processors; the gateway has its
    // own, too.
    detached: true,
    stdio: ["ignore", "inherit", "inherit"],
  });
  bench.atEnd(async () => {
    child.kill();
    await child.exited;
  });
  await firstAnswer({ ...sleepy, place: { hostname: "127.0.0.1", port } });
  return { pid: child.pid, port, tlsPort };
}

/** The verifier of the login that is used. */
function usersOf({ pilvi }: Bench, { id, protocol, login }: Sleepy): InstanceUser[] {
  if (protocol === "redis") return [{ name: login.username, verifier: sha256Hex(login.password) }];
  const manifest: unknown = JSON.parse(
    readFileSync(join(pilvi.dataDir, "instances", id, "manifest.json"), "utf8"),
  );
  const { spec } = manifest as { spec: { users: InstanceUser[] } };
  return spec.users;
}
