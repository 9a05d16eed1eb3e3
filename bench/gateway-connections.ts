// Measures the memory that the gateway takes for each open, idle connection, beside HAProxy and PgBouncer with as many
// connections.
import { forEachLimited } from "../src/lib/for-each-limited.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { ask } from "./support/clients.ts";
import { growth, type Memory } from "./support/memory.ts";
import { gatewayPid, restingMemoryOf } from "./support/pilvi-memory.ts";
import { startHaproxy, startPgbouncer } from "./support/proxies.ts";
import { kilobytes, printColumns, printRow } from "./support/report.ts";
import { POSTGRES_SLEEPER, VALKEY_SLEEPER, type Sleepy } from "./support/sleepers.ts";
import type { Place, Wire } from "./support/wire.ts";

const VALKEY_CONNECTIONS = 1_000;
const POSTGRES_CONNECTIONS = 50;
/** Connections before the measured ones: so few that they leave no memory behind that later connections could take. */
const WARM_UP_CONNECTIONS = 5;
/** Clients that log in at a time. */
const AT_ONCE = 20;

await runBench("gateway-connections: memory for each idle connection", async (bench) => {
  printColumns("PSS", "private");
  const valkey = await VALKEY_SLEEPER.create(bench.pilvi);
  const haproxy = await startHaproxy(bench, valkey);
  await measure(bench, valkey, VALKEY_CONNECTIONS, haproxy);
  const postgres = await POSTGRES_SLEEPER.create(bench.pilvi);
  const pgbouncer = await startPgbouncer(bench, postgres);
  await measure(bench, postgres, POSTGRES_CONNECTIONS, pgbouncer);
});

async function measure(
  { pilvi }: Bench,
  sleepy: Sleepy,
  count: number,
  proxy: { name: string; port: number; pid: number },
): Promise<void> {
  const { protocol, place } = sleepy;
  const ofProxy = await memoryPerConnection(proxy.pid, sleepy, localPort(proxy.port), count);
  printMemory(`${protocol}: ${proxy.name}, mean of ${count} (baseline)`, ofProxy);
  const ofGateway = await memoryPerConnection(gatewayPid(pilvi), sleepy, place, count);
  printMemory(`${protocol}: gateway, mean of ${count}`, ofGateway);
}

async function memoryPerConnection(
  pid: number,
  sleepy: Sleepy,
  place: Place,
  count: number,
): Promise<Memory> {
  close(await openAll(sleepy, place, WARM_UP_CONNECTIONS));
  const before = await restingMemoryOf(pid);
  const wires = await openAll(sleepy, place, count);
  const after = await restingMemoryOf(pid);
  close(wires);
  return growth(before, after, count);
}

async function openAll(sleepy: Sleepy, place: Place, count: number): Promise<Wire[]> {
  const wires: Wire[] = [];
  await forEachLimited(Array.from({ length: count }), AT_ONCE, async () => {
    wires.push(await ask({ ...sleepy, place }));
  });
  return wires;
}

function close(wires: readonly Wire[]): void {
  for (const wire of wires) wire.close();
}

function localPort(port: number): Place {
  return { hostname: "127.0.0.1", port };
}

function printMemory(label: string, { pss, own }: Memory): void {
  printRow(label, kilobytes(pss), kilobytes(own));
}
