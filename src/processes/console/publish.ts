// Puts the built web console into the data directory, from where the control plane serves it as a user who cannot read
// the checkout. Every build is kept beside the packages, so that only changed sources are built.
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { CURRENT_FILE } from "../../api/http/console-files.ts";
import { messageOf } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/files.ts";
import { CHECKOUT_DIR } from "../program/checkout.ts";
import { BUILDS_DIR, buildName } from "./sources.ts";

/** Builds of other sources that are kept, for a change back. */
const KEPT_BUILDS = 3;

/** A console that is being built; the control plane serves the rest meanwhile. */
export interface Publication {
  /** Resolves when the console is served, or could not be built. */
  finished: Promise<void>;
  /** Ends the build. */
  stop(): Promise<void>;
}

/** Where the control plane finds the console. */
export function consoleFolder(dataDir: string): string {
  return join(dataDir, "console");
}

interface Build {
  /** The folder of all builds. */
  builds: string;
  /** Where the control plane finds the console. */
  home: string;
  name: string;
  fail: (error: unknown) => void;
}

const DONE: Publication = { finished: Promise.resolve(), stop: async () => undefined };

/**
 * Publishes the console: at once where its sources were built before, and otherwise when a child process has built it.
 * @param complain gets a sentence for people when there is no console; everything else goes on.
 */
export function publishConsole(dataDir: string, complain: (text: string) => void): Publication {
  // The built program has no sources; `pilvi up` has published the console then.
  if (!import.meta.path.endsWith(".ts")) return DONE;
  const fail = (error: unknown) => complain(`There is no console: ${messageOf(error)}`);
  try {
    return publish(dataDir, fail);
  } catch (error) {
    fail(error);
    return DONE;
  }
}

function publish(dataDir: string, fail: (error: unknown) => void): Publication {
  const name = buildName();
  const home = consoleFolder(dataDir);
  mkdirSync(home, { recursive: true });
  // The control plane reads it as a user of its own.
  chmodSync(home, 0o755);
  const builds = buildsFolder(home);
  if (existsSync(join(home, name)) || existsSync(join(builds, name))) {
    place(join(builds, name), home, name);
    return DONE;
  }
  // The pages of another build do not belong to this program.
  rmSync(join(home, CURRENT_FILE), { force: true });
  return build({ builds, home, name, fail });
}

function build({ builds, home, name, fail }: Build): Publication {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "build.ts"), join(builds, name)], {
    cwd: CHECKOUT_DIR,
    // A terminal's Ctrl-C is for `pilvi up` alone.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let isStopping = false;
  const finish = async () => {
    const output = await new Response(child.stderr).text();
    if (isStopping) return;
    if ((await child.exited) !== 0) throw new Error(reasonOf(output, child.signalCode));
    place(join(builds, name), home, name);
    prune(builds, name);
  };
  return {
    finished: finish().catch(fail),
    stop: async () => {
      isStopping = true;
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** The first line that the build has written; a process that is killed writes nothing. */
function reasonOf(output: string, signal: NodeJS.Signals | number | null): string {
  const [line = ""] = output.trim().split("\n");
  if (line !== "") return line;
  return `Its build ended early (${signal ?? "without a reason"}). Start Pilvi again to build it anew.`;
}

/** Beside the packages, or in the data directory where the checkout cannot be written. */
function buildsFolder(home: string): string {
  try {
    mkdirSync(BUILDS_DIR, { recursive: true });
    accessSync(BUILDS_DIR, constants.W_OK);
    return BUILDS_DIR;
  } catch {
    return home;
  }
}

/** Copied aside and then renamed; only then the control plane is to serve it. */
function place(built: string, home: string, name: string): void {
  const target = join(home, name);
  if (!existsSync(target)) {
    const temporary = `${target}.${process.pid}`;
    cpSync(built, temporary, { recursive: true });
    renameSync(temporary, target);
  }
  replaceFile(join(home, CURRENT_FILE), name, 0o644);
  for (const each of readdirSync(home)) {
    if (each !== name && each !== CURRENT_FILE) rmSync(join(home, each), { recursive: true, force: true });
  }
}

/** Removes all but the latest builds, and with them what killed builds left. */
function prune(builds: string, name: string): void {
  const old = readdirSync(builds)
    .filter((each) => each !== name && each !== CURRENT_FILE)
    .map((each) => ({ each, builtAt: statSync(join(builds, each)).mtimeMs }))
    .sort((a, b) => b.builtAt - a.builtAt)
    .slice(KEPT_BUILDS);
  for (const { each } of old) rmSync(join(builds, each), { recursive: true, force: true });
}
