// The program that the processes run: Bun and the built code, in the data directory, where every user can read them.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../../lib/errors.ts";
import { CHECKOUT_DIR } from "./checkout.ts";
import {
  besides,
  buildName,
  buildsFolder,
  isWritable,
  linkOrCopy,
  nameBuild,
  placeBuild,
  pruneBuilds,
} from "./kept-builds.ts";

/** The files that start a process of Pilvi. */
export interface Program {
  bun: string;
  main: string;
  /** The script of the control plane's process. */
  control: string;
  /** The script of the gateway's process. */
  gateway: string;
  /** The script of the host's process. */
  host: string;
  /** The script of the keeper's process. */
  keeper: string;
  /** The script of a realtime server. */
  realtime: string;
}

/** The built files and their names. */
const ENTRIES = {
  main: "main.js",
  control: "control.js",
  gateway: "gateway.js",
  host: "host.js",
  keeper: "keeper.js",
  realtime: "realtime.js",
};

const SOURCES = ["src", "migrations"].map((folder) => join(CHECKOUT_DIR, folder));

/** Set for tests: builds the fail points in. */
const WITH_FAILPOINTS = process.env.PILVI_FAILPOINT_DIR !== undefined;

/** Builds the program, unless the same sources were built before, and removes earlier programs. */
export async function ensureProgram(dataDir: string): Promise<Program> {
  // Once built, the program has no sources to build from.
  if (!import.meta.path.endsWith(".ts")) return programIn(import.meta.dir, process.execPath);
  const home = join(dataDir, "program");
  mkdirSync(home, { recursive: true });
  const bun = join(home, `bun-${Bun.version}`);
  const name = buildName(SOURCES, `fail points: ${WITH_FAILPOINTS}`);
  const folder = join(home, name);
  if (!existsSync(folder)) await placeProgram(folder, name);
  if (!existsSync(bun)) placeBun(bun);
  for (const each of readdirSync(home)) {
    if (each !== name && each !== `bun-${Bun.version}`)
      rmSync(join(home, each), { recursive: true, force: true });
  }
  return programIn(folder, bun);
}

/** Every data directory of a checkout that can be written has a copy of the same build. */
async function placeProgram(folder: string, name: string): Promise<void> {
  const builds = buildsFolder("program");
  if (!isWritable(builds)) return await build(folder);
  const built = join(builds, name);
  if (!existsSync(built)) await build(built);
  pruneBuilds(builds, [name]);
  placeBuild(built, folder);
}

function programIn(folder: string, bun: string): Program {
  const path = (entry: keyof typeof ENTRIES) => join(folder, ENTRIES[entry]);
  return {
    bun,
    main: path("main"),
    control: path("control"),
    gateway: path("gateway"),
    host: path("host"),
    keeper: path("keeper"),
    realtime: path("realtime"),
  };
}

/** Builds all scripts into the folder; another start may have made the same folder meanwhile. */
async function build(folder: string): Promise<void> {
  const results = await Promise.all([
    buildEntry("main.ts", ENTRIES.main),
    buildEntry("processes/commands/control-main.ts", ENTRIES.control),
    buildEntry("processes/commands/gateway-main.ts", ENTRIES.gateway),
    buildEntry("processes/commands/host-main.ts", ENTRIES.host),
    buildEntry("processes/commands/keeper-main.ts", ENTRIES.keeper),
    buildEntry("realtime/main.ts", ENTRIES.realtime),
  ]);
  const temporary = besides(folder);
  try {
    for (const output of results.flatMap(({ outputs }) => outputs))
      await Bun.write(join(temporary, output.path), output);
    for (const each of readdirSync(temporary)) chmodSync(join(temporary, each), 0o644);
    chmodSync(temporary, 0o755);
    nameBuild(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** Each script is built by itself, so that a realtime server or the gateway loads nothing but its own code. */
async function buildEntry(source: string, name: string): Promise<Bun.BuildOutput> {
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, "../..", source)],
    naming: { entry: name },
    target: "bun",
    define: { PILVI_FAILPOINTS: String(WITH_FAILPOINTS) },
    minify: { syntax: true },
    throw: false,
  });
  if (!result.success) throw new Refusal(`Pilvi could not be built: ${result.logs.join("\n")}`);
  return result;
}

function placeBun(path: string): void {
  const temporary = besides(path);
  linkOrCopy(process.execPath, temporary);
  chmodSync(temporary, 0o755);
  nameBuild(temporary, path);
}
