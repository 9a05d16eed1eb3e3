// Builds a data directory aside, as a user with a name, and moves the complete directory into place in one step.
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Builder, Engine, EngineContext, FirstData } from "../../engines/engine.ts";
import type { InstalledEngine } from "../../engines/installed.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { chownTree } from "../../lib/files.ts";
import { removeTrees } from "../../lib/tree-removal.ts";
import { CUSTOMER_OOM_SCORE, setOomScore } from "../../lib/oom-score.ts";
import { BUILD_ACCOUNT } from "../os/accounts.ts";
import { buildUser, isBuildUserShared } from "./build-user.ts";
import { originOf, type DataOrigin, type OriginSource } from "./origin.ts";

/** A build without a waiting caller yields to everything else on the machine. */
const IDLE_PRIORITY = ["nice", "-n", "19"];

/** The prefix of the folders in which data is built, or deleted; a unique name follows. The next build deletes them. */
export const WORK_DIR = "build.";

/** The options of a build. */
interface BuildOptions {
  /** Limits each program of the build, right after its start. */
  confine(pid: number): void;
  /** Whether a caller waits for the build. */
  isUrgent: boolean;
  /** Ends the build. */
  signal?: AbortSignal;
}

/** Where first data comes from. */
interface FirstDataSources {
  /** Data directories that are ready to use. */
  slots: {
    /** Moves a data directory of the engine to the path. @returns false when there is none. */
    take(kind: { installed: InstalledEngine; firstData: FirstData }, path: string): boolean;
  };
  origin: OriginSource;
}

/**
 * Provides the instance's first data unless it exists, and gives it to the instance's user.
 * @returns whether the data is new and its content known.
 */
export async function ensureFirstData(
  engine: Engine,
  context: EngineContext<InstanceSpec>,
  { slots, origin: source }: FirstDataSources,
  confine: BuildOptions["confine"],
): Promise<boolean> {
  const { firstData } = engine;
  const { installed, paths, account, spec } = context;
  const origin = originOf(spec);
  if (isThere(engine, paths.dataDir, origin)) return false;
  const folder = dirname(paths.dataDir);
  const former = readdirSync(folder).filter((name) => name.startsWith(WORK_DIR));
  await removeTrees(former.map((name) => join(folder, name)));
  // A fresh name each time: a program that a killed host had started may still write to its own folder.
  const workDir = join(folder, `${WORK_DIR}${Bun.randomUUIDv7()}`);
  const built = join(workDir, "data");
  mkdirSync(workDir, { mode: 0o700 });
  if (origin !== null) {
    await source.build(origin, engine, context, workDir).catch(async (error: unknown) => {
      // What is half restored may fill the disk until the next attempt.
      await removeTrees([workDir]);
      throw error;
    });
  } else if (firstData !== undefined && !slots.take({ installed, firstData }, built)) {
    await build(firstData, installed, workDir, { confine, isUrgent: true });
  }
  await failpoint("slots.taken");
  if (account !== null && origin === null) chownTree(built, account);
  await failpoint("slots.given");
  renameSync(built, paths.dataDir);
  // A restore may leave more than the empty folder of a build.
  if (origin !== null) await removeTrees([workDir]);
  else rmSync(workDir, { recursive: true, force: true });
  return origin === null;
}

/** Data from an origin is moved into the empty folder in one step, so a folder with anything in it has all of it. */
function isThere({ firstData }: Engine, dataDir: string, origin: DataOrigin | null): boolean {
  if (origin !== null) return existsSync(dataDir) && readdirSync(dataDir).length > 0;
  return firstData === undefined || existsSync(join(dataDir, firstData.mark));
}

/** Has the engine build a folder `data` in the folder. Under root it belongs to a user that no other process has. */
export async function build(
  firstData: FirstData,
  installed: InstalledEngine,
  folder: string,
  { confine, isUrgent, signal }: BuildOptions,
): Promise<void> {
  const { account, prefix } = buildUser();
  if (account !== null) chownSync(folder, account.uid, account.gid);
  const before = isUrgent ? prefix : [...IDLE_PRIORITY, ...prefix];
  const builder: Builder = {
    run: async (command, input) => {
      const child = Bun.spawn([...before, ...command], {
        cwd: folder,
        env: { PATH: "/usr/bin:/bin", TZ: "UTC", ...installed.env },
        stdio: [input === undefined ? "ignore" : Buffer.from(input), "pipe", "pipe"],
        ...account,
        ...(signal === undefined ? {} : { signal }),
      });
      setOomScore(child.pid, CUSTOMER_OOM_SCORE);
      confine(child.pid);
      await succeeded(child, command);
    },
  };
  await firstData.build(installed, folder, builder);
  if (isBuildUserShared()) chownTree(folder, BUILD_ACCOUNT);
}

async function succeeded(
  child: Bun.Subprocess<"ignore" | Uint8Array, "pipe", "pipe">,
  command: string[],
): Promise<void> {
  const [said, complained] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 0) return;
  const isFull = complained.includes("No space left on device");
  throw new PublicError(
    isFull ? "The disk of the host is full." : "The engine could not make its first data.",
    new Error(`${command[0]}: ${said.slice(-2_000)}${complained.slice(-2_000)}`),
  );
}
