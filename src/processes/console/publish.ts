// Puts the built web console into the data directory, from where the control plane serves it as a user who cannot read
// the checkout. Every build is kept beside the packages, so that only changed sources are built.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CURRENT_FILE } from "../../api/http/console-files.ts";
import { messageOf } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/files.ts";
import { CHECKOUT_DIR } from "../program/checkout.ts";
import { buildsFolder, placeBuild, isWritable, pruneBuilds } from "../program/kept-builds.ts";
import { consoleName } from "./sources.ts";

/** A console that is being built; the control plane serves the rest meanwhile. */
interface Publication {
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
  const name = consoleName();
  const home = consoleFolder(dataDir);
  mkdirSync(home, { recursive: true });
  // The control plane reads it as a user of its own.
  chmodSync(home, 0o755);
  // The data directory keeps the builds of a checkout that cannot be written.
  const builds = isWritable(buildsFolder("console")) ? buildsFolder("console") : home;
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
    pruneBuilds(builds, [name, CURRENT_FILE]);
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

/** The control plane is to serve a build when it is there as a whole. */
function place(built: string, home: string, name: string): void {
  placeBuild(built, join(home, name));
  replaceFile(join(home, CURRENT_FILE), name, 0o644);
  for (const each of readdirSync(home)) {
    if (each !== name && each !== CURRENT_FILE) rmSync(join(home, each), { recursive: true, force: true });
  }
}
