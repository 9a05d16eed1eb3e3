// Measures what a minute of metrics takes for 200 idle caches: the processor time of host and engines, and the memory
// of the host, beside the same engines when nothing is measured.
import { sleepySpec, TestHosts } from "../src/host/test-support.ts";
import { cpuNs } from "./support/cpu.ts";
import { printColumns, printHeading, printRow, printTarget } from "./support/report.ts";

const INSTANCES = 200;
const MINUTES = 10;
const SAMPLES_PER_MINUTE = 4;
const MINUTE_MS = 60_000;
const NS_PER_MS = 1_000_000;

printHeading(`metrics-cost: ${INSTANCES} idle caches, ${MINUTES} minutes one after the other`);
const hosts = new TestHosts();
try {
  const host = await hosts.start();
  const specs = Array.from({ length: INSTANCES }, () => sleepySpec("cache", { sleepAfterSeconds: null }));
  for (const spec of specs) await host.ensure(spec);
  const pids = specs.flatMap(({ id }) => hosts.pidsOf(id));
  const cpuMs = () => ({
    host: cpuNs(process.pid) / NS_PER_MS,
    engines: pids.reduce((sum, pid) => sum + cpuNs(pid), 0) / NS_PER_MS,
  });
  const measure = async (work: () => Promise<void>) => {
    const before = cpuMs();
    const startedAt = performance.now();
    await work();
    const after = cpuMs();
    return {
      host: after.host - before.host,
      engines: after.engines - before.engines,
      ms: performance.now() - startedAt,
    };
  };
  await host.measurements.endMinute();
  Bun.gc(true);
  const memory = process.memoryUsage().rss;
  const measured = await measure(async () => {
    for (let minute = 0; minute < MINUTES; minute += 1) await host.measurements.endMinute();
  });
  Bun.gc(true);
  const grownBytes = Math.max(0, process.memoryUsage().rss - memory);
  const idle = await measure(() => Bun.sleep(measured.ms));
  const perMinute = {
    // The three samples within a minute have no question, so a whole minute for each of them is more than they take.
    host: Math.max(0, measured.host - idle.host) / MINUTES,
    engines: Math.max(0, measured.engines - idle.engines) / MINUTES,
  };
  const percent = (ms: number) => `${((ms / MINUTE_MS) * 100).toFixed(3)} %`;
  printColumns("host", "engines");
  printRow("nothing measured, for as long (baseline), ms", idle.host.toFixed(1), idle.engines.toFixed(1));
  printRow(`${MINUTES} minutes measured, ms`, measured.host.toFixed(1), measured.engines.toFixed(1));
  printRow("a minute, of one processor", percent(perMinute.host), percent(perMinute.engines));
  const most = perMinute.host * SAMPLES_PER_MINUTE + perMinute.engines;
  printTarget(
    "processor time of a minute at most, of one processor",
    (most / MINUTE_MS) * 100,
    1,
    (value) => `${value.toFixed(3)} %`,
  );
  printTarget(
    "memory of the host for each instance, after ten minutes that nobody took",
    grownBytes / INSTANCES / 1_000,
    100,
    (value) => `${value.toFixed(1)} kB`,
  );
} finally {
  await hosts.close();
}
