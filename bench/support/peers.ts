// The programs that the gateway is compared with or loaded by. Missing programs come from the distribution's signed
// packages, unpacked beside the engines, so that the system does not change.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { findEngines } from "../../src/engines/installed.ts";
import { unpackPackages } from "../../tests/support/clients/unpack-packages.ts";
import { CannotMeasure } from "./bench.ts";

/** A program that can be run. */
export interface Program {
  path: string;
  /** The words before the path, for a program with a C library of its own. */
  loader?: readonly string[];
  /** The environment that it needs. */
  env: Record<string, string>;
  /** The version as the program prints it. */
  version: string;
}

/** Each program with its package, and the option that prints its version. */
const PEERS = {
  haproxy: { package: "haproxy", versionOption: "-v" },
  pgbouncer: { package: "pgbouncer", versionOption: "--version" },
  wrk: { package: "wrk", versionOption: "-v" },
  h2load: { package: "nghttp2-client", versionOption: "--version" },
  pgbench: { package: "postgresql", versionOption: "--version" },
};

const { enginesDir } = loadConfig(process.env);
const HOME = join(dirname(enginesDir), "bench-peers");

/** Finds the program, or fetches it. @throws CannotMeasure when that fails. */
export async function findPeer(name: keyof typeof PEERS): Promise<Program> {
  const home = join(HOME, name);
  const { package: packageName, versionOption } = PEERS[name];
  const known = inFolder("/", name) ?? inFolder(home, name);
  if (known === undefined) await fetchInto(home, packageName);
  const path = known ?? inFolder(home, name);
  if (path === undefined) throw new CannotMeasure(`The package ${packageName} does not have ${name}.`);
  return await described(path, libraryEnv(home), versionOption);
}

/** The load tool that comes with the engine of the caches. */
export async function findValkeyBenchmark(): Promise<Program> {
  const engine = (await findEngines(enginesDir)).find(({ name }) => name === "valkey");
  const path = engine === undefined ? undefined : join(dirname(engine.program), "valkey-benchmark");
  if (engine === undefined || path === undefined || !existsSync(path))
    throw new CannotMeasure("There is no valkey-benchmark. Run: pilvi engines install");
  return await described(path, engine.env, "--version", engine.loader);
}

async function fetchInto(home: string, packageName: string): Promise<void> {
  console.log(`fetching ${packageName} from the distribution's packages`);
  try {
    await unpackPackages([packageName], home);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CannotMeasure(`The package ${packageName} cannot be had: ${reason}`);
  }
}

/**
 * The place of the program below a folder, as packages lay it out. In a versioned folder it is the program itself, in
 * usr/bin it may be a script.
 */
function inFolder(folder: string, name: string): string | undefined {
  const places = [`usr/lib/postgresql/*/bin/${name}`, `usr/sbin/${name}`, `usr/bin/${name}`];
  const found = existsSync(folder)
    ? places.flatMap((place) => Array.from(new Bun.Glob(place).scanSync({ cwd: folder, absolute: true })))
    : [];
  return found[0];
}

function libraryEnv(home: string): Record<string, string> {
  if (!existsSync(home)) return {};
  const folders = ["usr/lib", "lib"].flatMap((parent) => {
    const pattern = new Bun.Glob(`${parent}/*-linux-gnu`);
    return Array.from(pattern.scanSync({ cwd: home, absolute: true, onlyFiles: false }));
  });
  return { LD_LIBRARY_PATH: folders.join(":") };
}

async function described(
  path: string,
  env: Record<string, string>,
  versionOption: string,
  loader: readonly string[] = [],
): Promise<Program> {
  const child = Bun.spawn([...loader, path, versionOption], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const version = text.split("\n", 1)[0]?.trim() ?? "";
  await child.exited;
  // wrk prints its version and ends with an error, since it has nothing to load.
  if (version !== "") return { path, loader, env, version };
  throw new CannotMeasure(`${path} does not run: ${complaint.trim()}`);
}
