// Measures the throughput of the gateway, beside the same engine without a proxy, and beside PgBouncer and HAProxy in
// front of it. All of them share the processors with the engine and the load, as they do on a real machine.
import { freePort } from "../tests/support/pilvi/ports.ts";
import { BareInstance, takeModels } from "./support/bare-instance.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { askUntilAnswered } from "./support/clients.ts";
import { fillTables, getRate, selectRate, type ClientLoad, type Target } from "./support/load.ts";
import { countOption } from "./support/options.ts";
import { findPeer, findValkeyBenchmark } from "./support/peers.ts";
import { startHaproxy, startPgbouncer, type Proxy } from "./support/proxies.ts";
import { perSecond, printColumns, printFloor, printRow, times } from "./support/report.ts";
import {
  createSleepyCluster,
  serverlessConfig,
  socketOf,
  VALKEY_SLEEPER,
  type Sleepy,
} from "./support/sleepers.ts";
import { median } from "./support/statistics.ts";
import { POSTGRES } from "../tests/support/pilvi/databases.ts";

const ROUNDS = countOption(9);
/** Enough compute units that the kernel never holds the engine back. */
const COMPUTE_UNITS = 4;
/** With two threads the load alone could take both processors of a small machine. */
const SELECT_LOADS: ClientLoad[] = [
  { clients: 16, threads: 1 },
  { clients: 16, threads: 2 },
  { clients: 1, threads: 1 },
];
/** Each load takes about two seconds. */
const PIPELINES = [
  { pipeline: 1, requests: 150_000 },
  { pipeline: 16, requests: 1_200_000 },
];
/** The least share of each baseline's rate. */
const TARGETS = { ofDirect: 0.75, ofPgbouncer: 1, ofHaproxy: 0.9 };

await runBench(
  `gateway-throughput: reads a second, medians of ${ROUNDS} rounds, every side once in each`,
  async (bench) => {
    await measurePostgres(bench);
    await measureValkey(bench);
  },
);

/** A way to the engine, and its rate in each round. */
interface Side {
  label: string;
  target: Target;
  rates: number[];
}

/** The sides of a comparison; `direct` is the way without a proxy, where it exists. */
interface Comparison {
  direct?: Side;
  peer: Side;
  gateway: Side;
}

async function measurePostgres(bench: Bench): Promise<void> {
  const attributes = { type: POSTGRES, config: serverlessConfig(COMPUTE_UNITS) };
  const sleepy = await createSleepyCluster(bench.pilvi, attributes);
  const pgbench = await findPeer("pgbench");
  await fillTables(pgbench, socketTarget(bench, sleepy));
  const direct = await startBarePostgres(bench, sleepy);
  const proxy = await startPgbouncer(bench, sleepy);
  console.log(`Postgres: ${pgbench.version}, ${proxy.name} in session mode`);
  for (const load of SELECT_LOADS) {
    const title = `${load.clients} clients of ${load.threads} threads`;
    const rateOf = (target: Target) => selectRate(pgbench, target, load);
    const plain = await compare(direct, sleepy, proxy, rateOf);
    report(`select-only, ${title}`, plain);
    printTargets(title, plain, TARGETS.ofDirect, TARGETS.ofPgbouncer);
    const tls = await compareTls(sleepy, proxy, rateOf);
    report(`select-only, ${title}, TLS`, tls);
    printTargets(`${title}, TLS`, tls, undefined, TARGETS.ofPgbouncer);
  }
}

async function measureValkey(bench: Bench): Promise<void> {
  const sleepy = await VALKEY_SLEEPER.create(bench.pilvi);
  const benchmark = await findValkeyBenchmark();
  const direct = sideOf("engine's unix socket, nothing in between (baseline)", socketTarget(bench, sleepy));
  const proxy = await startHaproxy(bench, sleepy);
  console.log(`\nValkey: ${benchmark.version}, ${proxy.name} in TCP mode with one thread`);
  for (const load of PIPELINES) {
    const rateOf = (target: Target) => getRate(benchmark, target, load);
    const plain = await compare(direct, sleepy, proxy, rateOf);
    report(`GET, pipeline ${load.pipeline}`, plain);
    printTargets(`GET, pipeline ${load.pipeline}`, plain, undefined, TARGETS.ofHaproxy);
    const tls = await compareTls(sleepy, proxy, rateOf);
    report(`GET, pipeline ${load.pipeline}, TLS`, tls);
    printTargets(`GET, pipeline ${load.pipeline}, TLS`, tls, undefined, TARGETS.ofHaproxy);
  }
}

type RateOf = (target: Target) => Promise<number>;

/** A copy of the engine with the same settings, which listens on a port by itself, as it would without a gateway. */
async function startBarePostgres(bench: Bench, { id, login }: Sleepy): Promise<Side> {
  const model = (await takeModels(bench.pilvi, [{ id }])).get(id);
  if (model === undefined) throw new Error("there is no model");
  const port = freePort();
  const bare = new BareInstance(bench.pilvi, model, {
    "postgresql.conf": `listen_addresses = '127.0.0.1'\nport = ${port}\n`,
    "pg_hba.conf": "host all all 127.0.0.1/32 scram-sha-256\n",
  });
  bench.atEnd(() => bare.kill());
  bare.prepare();
  bare.spawn();
  const place = localPort(port);
  const wire = await askUntilAnswered({ protocol: "postgres", place, login });
  wire.close();
  return sideOf("engine's own port, nothing in between (baseline)", { place, login, isTls: false });
}

async function compare(direct: Side, sleepy: Sleepy, proxy: Proxy, rateOf: RateOf): Promise<Comparison> {
  const { login, place } = sleepy;
  const comparison = {
    direct: { ...direct, rates: [] },
    peer: sideOf(proxy.name, { login, isTls: false, place: localPort(proxy.port) }),
    gateway: sideOf("gateway", { login, isTls: false, place }),
  };
  await alternate([comparison.direct, comparison.peer, comparison.gateway], rateOf);
  return comparison;
}

/** The engine itself has no TLS to compare with. */
async function compareTls({ login, place }: Sleepy, proxy: Proxy, rateOf: RateOf): Promise<Comparison> {
  const comparison = {
    peer: sideOf(`${proxy.name}, TLS`, { login, isTls: true, place: localPort(proxy.tlsPort) }),
    gateway: sideOf("gateway, TLS", { login, isTls: true, place }),
  };
  await alternate([comparison.peer, comparison.gateway], rateOf);
  return comparison;
}

/**
 * The first round warms all sides up and does not count. Every other round runs backwards, so that no side always comes
 * first.
 */
async function alternate(sides: readonly Side[], rateOf: RateOf): Promise<void> {
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const rate = await rateOf(side.target);
      if (round > 0) side.rates.push(rate);
    }
  }
}

function sideOf(label: string, target: Target): Side {
  return { label, target, rates: [] };
}

function socketTarget({ pilvi }: Bench, sleepy: Sleepy): Target {
  return { place: { unix: socketOf(pilvi, sleepy) }, login: sleepy.login, isTls: false };
}

function localPort(port: number): { hostname: string; port: number } {
  return { hostname: "127.0.0.1", port };
}

function report(title: string, { direct, peer, gateway }: Comparison): void {
  console.log(`\n${title}`);
  printColumns("median", "least", "x direct", "x peer");
  for (const side of [direct, peer, gateway]) {
    if (side === undefined) continue;
    const { label, rates } = side;
    const ofDirect = direct === undefined || side === direct ? "" : times(shareOf(side, direct));
    const ofPeer = side === gateway ? times(shareOf(side, peer)) : "";
    printRow(label, perSecond(median(rates)), perSecond(Math.min(...rates)), ofDirect, ofPeer);
  }
}

function printTargets(
  what: string,
  { direct, peer, gateway }: Comparison,
  ofDirect: number | undefined,
  ofPeer: number,
): void {
  if (direct !== undefined && ofDirect !== undefined)
    printFloor(`${what}: of direct`, shareOf(gateway, direct), ofDirect, times);
  printFloor(`${what}: of ${peer.label}`, shareOf(gateway, peer), ofPeer, times);
}

/** The median of the rounds' shares: a machine that is slow for some minutes slows both sides of a round. */
function shareOf(side: Side, other: Side): number {
  return median(side.rates.map((rate, round) => rate / (other.rates[round] ?? Number.NaN)));
}
