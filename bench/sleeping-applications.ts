// Measures the memory of sleeping applications in Pilvi's own processes and the edge, beside the memory of an application
// that is awake. A sleeping application has no process. Most of what the first figure has beyond that of a restarted Pilvi
// is no garbage: deployments have host and control plane compile code, which `Bun.shrink` drops and `Bun.gc` does not. The
// control plane drops it a minute later, after the measurement; the host keeps it, since the next wake needs it.
import { localDriver } from "../src/drivers/local/index.ts";
import { EDGE_ID } from "../src/contracts/edge-id.ts";
import { hostSocket } from "../src/host/os/layout.ts";
import { forEachLimited } from "../src/lib/for-each-limited.ts";
import { createLog } from "../src/lib/log.ts";
import { bunServer, TestApplication } from "../tests/support/pilvi/applications.ts";
import { processesOf } from "../tests/support/pilvi/databases.ts";
import { type TestPilvi, until } from "../tests/support/pilvi/pilvi.ts";
import { runBench } from "./support/bench.ts";
import { growth, memoryOf, type Memory } from "./support/memory.ts";
import { countOption } from "./support/options.ts";
import { restingMemory } from "./support/pilvi-memory.ts";
import { kilobytes, megabytes, printColumns, printRow, printTarget } from "./support/report.ts";

const APPLICATIONS = countOption(200);
/** Applications before the measurement, so that shared code and buffers exist already. */
const WARM_UP = 10;
/** The number of deployments at a time. */
const AT_ONCE = 2;
/** By then idle processes have given memory back; see src/lib/idle-memory.ts. */
const GIVEN_BACK_MS = 75_000;
const TARGET_KB = 100;
const NONE: Memory = { rss: 0, pss: 0, own: 0 };

await runBench(
  `sleeping-applications: ${APPLICATIONS} sleeping applications, PSS of up, host, control, gateway and keeper, and of the edge`,
  async ({ pilvi }) => {
    const [first = ""] = await deployAll(pilvi, 1, 0);
    const awake = growth(NONE, memoryOf(processesOf(pilvi, first)), 1);
    await suspend(pilvi, first);
    for (const id of await deployAll(pilvi, WARM_UP, 1)) await suspend(pilvi, id);
    const before = await measured(pilvi);
    const beforeRestarted = await restart(pilvi);
    const sleeping = await deployAll(pilvi, APPLICATIONS, 1 + WARM_UP);
    const after = await measured(pilvi);
    const afterRestarted = await restart(pilvi);
    printColumns("PSS", "private");
    printRow("an application that is awake (baseline)", ...[awake.pss, awake.own].map(megabytes));
    const own = growth(before.own, after.own, APPLICATIONS);
    const restarted = growth(beforeRestarted.own, afterRestarted.own, APPLICATIONS);
    printMemory("Pilvi's processes for each that sleeps", own);
    printMemory("the same after a restart of Pilvi", restarted);
    printMemory("the edge for each that sleeps", growth(before.edge, after.edge, APPLICATIONS));
    console.log("");
    printTarget("PSS for each that sleeps", own.pss, TARGET_KB, kilobytes);
    printTarget("PSS for each that sleeps, after a restart", restarted.pss, TARGET_KB, kilobytes);
    printTarget("their processes", sleeping.flatMap((id) => processesOf(pilvi, id)).length, 0, String);
  },
);

/** Deploys applications; each sleeps but the very first. @returns their instances. */
async function deployAll(pilvi: TestPilvi, count: number, from: number): Promise<string[]> {
  const instances: string[] = [];
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  await forEachLimited(numbers, AT_ONCE, async (number) => {
    const application = await TestApplication.create(pilvi, `Sleeper ${number}`);
    const { attributes } = await application.deploy(bunServer(`number ${number}`));
    if (attributes.status !== "deployment.succeeded") throw new Error(`it ended ${attributes.status}`);
    const driver = driverOf(pilvi);
    const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
    const [instance = ""] = route?.instances ?? [];
    if (number > 0) await suspend(pilvi, instance);
    instances.push(instance);
  });
  return instances;
}

async function suspend(pilvi: TestPilvi, instance: string): Promise<void> {
  const driver = driverOf(pilvi);
  await driver.suspend(instance);
  await until(`${instance} sleeps`, async () => (await driver.observe(instance)).state === "asleep");
}

function driverOf(pilvi: TestPilvi) {
  return localDriver(hostSocket(pilvi.dataDir), { log: createLog("bench", "error") });
}

async function measured(pilvi: TestPilvi): Promise<{ own: Memory; edge: Memory }> {
  return { own: await restingMemory(pilvi, GIVEN_BACK_MS), edge: memoryOf(processesOf(pilvi, EDGE_ID)) };
}

/** The memory of a restarted Pilvi; the applications sleep on. */
async function restart(pilvi: TestPilvi): Promise<{ own: Memory; edge: Memory }> {
  await pilvi.stop();
  await pilvi.start();
  return await measured(pilvi);
}

function printMemory(label: string, { pss, own }: Memory): void {
  printRow(label, kilobytes(pss), kilobytes(own));
}
