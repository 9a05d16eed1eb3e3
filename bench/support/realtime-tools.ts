// Compiles the C programs of bench/realtime: the realtime server's baseline, and the load for both.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { CannotMeasure, runWithoutPilvi, type Endings } from "./bench.ts";

const SOURCES = join(import.meta.dir, "..", "realtime");
const COMPILERS = ["cc", "gcc", "clang"];

/** The interface that a measurement of the realtime server gets. */
export interface RealtimeBench extends Endings {
  /** A folder for all files of the measurement; removed at the end. */
  folder: string;
  programs: { baseline: string; load: string };
}

/** As `runBench`, with compiled programs in place of a Pilvi. */
export async function runRealtimeBench(
  title: string,
  measure: (bench: RealtimeBench) => Promise<void>,
): Promise<never> {
  return await runWithoutPilvi(title, async ({ atEnd }) => {
    if (cpus().length < 2) throw new CannotMeasure("Server and load need two processor cores of their own.");
    if (Bun.which("taskset") === null)
      throw new CannotMeasure("Install taskset (util-linux) to measure this.");
    const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-realtime-"));
    atEnd(() => rmSync(folder, { recursive: true, force: true }));
    const programs = {
      baseline: compile(folder, "baseline", ["baseline.c"]),
      load: compile(folder, "load", ["load.c", "subscribers.c", "publishers.c"]),
    };
    run([programs.load, "check"]);
    await measure({ atEnd, folder, programs });
  });
}

/** @returns the path of the program. */
function compile(folder: string, name: string, sources: string[]): string {
  const compiler = COMPILERS.map((each) => Bun.which(each)).find((path) => path !== null);
  if (compiler === undefined) throw new CannotMeasure("Install a C compiler (cc) to measure this.");
  const program = join(folder, name);
  run([compiler, "-O2", "-o", program, ...sources.map((source) => join(SOURCES, source))]);
  return program;
}

function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stdio: ["ignore", "ignore", "pipe"] });
  if (!success) throw new CannotMeasure(`${command.join(" ")} has failed: ${stderr.toString().trim()}`);
}
