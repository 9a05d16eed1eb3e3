// The program that the processes run: Bun and the built code, in the data directory, where every user can read them.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../lib/secrets.ts";
import { Refusal } from "../../lib/errors.ts";

/** The files that start a process of Pilvi. */
export interface Program {
  bun: string;
  main: string;
  /** The script of the gateway's process. */
  gateway: string;
  /** The script of the keeper's process. */
  keeper: string;
  /** The script of a realtime server. */
  realtime: string;
}

/** The built files and their names. */
const ENTRIES = {
  main: "main.js",
  gateway: "gateway.js",
  keeper: "keeper.js",
  realtime: "realtime.js",
};

/** Set for tests: builds the fail points in. */
const WITH_FAILPOINTS = process.env.PILVI_FAILPOINT_DIR !== undefined;

/** Builds the program, unless the same program is there already, and removes earlier programs. Takes about 0.1 s. */
export async function ensureProgram(dataDir: string): Promise<Program> {
  // Once built, the program has no sources to build from.
  if (!import.meta.path.endsWith(".ts")) return programIn(import.meta.dir, process.execPath);
  const home = join(dataDir, "program");
  mkdirSync(home, { recursive: true });
  const bun = join(home, `bun-${Bun.version}`);
  const built = await build();
  const name = sha256Hex(built.hashes).slice(0, 16);
  const folder = join(home, name);
  if (!existsSync(folder)) await write(built.outputs, folder);
  if (!existsSync(bun)) placeBun(bun);
  for (const each of readdirSync(home)) {
    if (each !== name && each !== `bun-${Bun.version}`)
      rmSync(join(home, each), { recursive: true, force: true });
  }
  return programIn(folder, bun);
}

function programIn(folder: string, bun: string): Program {
  const path = (entry: keyof typeof ENTRIES) => join(folder, ENTRIES[entry]);
  return {
    bun,
    main: path("main"),
    gateway: path("gateway"),
    keeper: path("keeper"),
    realtime: path("realtime"),
  };
}

async function build() {
  const results = await Promise.all([
    buildEntry("main.ts", ENTRIES.main),
    buildEntry("processes/commands/gateway-main.ts", ENTRIES.gateway),
    buildEntry("processes/commands/keeper-main.ts", ENTRIES.keeper),
    buildEntry("realtime/main.ts", ENTRIES.realtime),
  ]);
  return { outputs: results.flatMap(({ outputs }) => outputs), hashes: await hashesOf(results) };
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

async function hashesOf(results: Bun.BuildOutput[]): Promise<string> {
  const contents = await Promise.all(
    results.flatMap(({ outputs }) =>
      outputs.map(
        async (output) =>
          `${output.path} ${output.hash} ${sha256Hex(new Uint8Array(await output.arrayBuffer()))}`,
      ),
    ),
  );
  return contents.join("\n");
}

/** Written aside and then renamed, so that a kill leaves no half-written program under the name. */
async function write(outputs: Bun.BuildArtifact[], folder: string): Promise<void> {
  const temporary = `${folder}.${process.pid}`;
  for (const output of outputs) await Bun.write(join(temporary, output.path), output);
  for (const each of readdirSync(temporary)) chmodSync(join(temporary, each), 0o644);
  chmodSync(temporary, 0o755);
  renameSync(temporary, folder);
}

/** A link costs no space; a copy does where the data directory is on another disk. */
function placeBun(path: string): void {
  const temporary = `${path}.${process.pid}`;
  try {
    linkSync(process.execPath, temporary);
  } catch {
    copyFileSync(process.execPath, temporary);
  }
  chmodSync(temporary, 0o755);
  renameSync(temporary, path);
}
