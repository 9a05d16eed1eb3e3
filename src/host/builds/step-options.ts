// How the steps of a build run: the files they read, the view of the machine that they have, their variables and limits.
import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { BuildSpec } from "../../contracts/builds.ts";
import type { Account } from "../../engines/engine.ts";
import { exportsOf } from "../../engines/application/command-file.ts";
import { applicationVariables } from "../../engines/application/variables.ts";
import { copiedIn, fillWritable, mountsOfWritable, writableIn } from "../../engines/application/writable.ts";
import type { PortRange } from "../../engines/packet-filter/ruleset.ts";
import { appPlace, type ReadyRuntime } from "../../engines/runtimes/runtimes.ts";
import {
  CONF_PLACE,
  hasOwnPlaces,
  nameFiles,
  sandboxed,
  type Mount,
  type Sandbox,
} from "../../engines/sandbox/sandbox.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import type { BuildFolder } from "./build-folder.ts";
import { releaseApp } from "../os/layout.ts";
import { buildVariables } from "./build-variables.ts";
import type { StepOptions } from "./step-process.ts";

/**
 * The words that give a command's session its terminal. The session is another than that of the sandbox, so nothing
 * outside has the same terminal. The first shell gives the exit code of a program that a signal has ended.
 */
const IN_TERMINAL = ["/bin/sh", "-c", '/usr/bin/setsid --ctty "$@"; exit $?', "sh"];

/** Shell: keys such as Ctrl-C reach the program and the shell that waits for it, which leaves them to the program. */
const OUTLIVE_KEYS = "trap : INT QUIT\n";

/** The kind of terminal that programs find; practically every window of today understands it. */
const TERM = "xterm-256color";

/** What all steps of a build have in common. */
export interface StepParts {
  folder: BuildFolder;
  spec: BuildSpec;
  account: Account | null;
  /** The folder that the builds of the environment share; null for commands in a release, which have none. */
  cache: string | null;
  /** The tree that the steps see as `/app`: that of the build, or a release that stays as it is. */
  tree: string;
  cgroups: CgroupBackend | null;
  /** The ports of instances, of which a build takes none. */
  portRange: PortRange;
  sandbox: Sandbox;
  runtime: ReadyRuntime;
}

/** The name of the group of a build's processes. */
export function groupOf(id: string): string {
  return `build-${id}`;
}

/** The tree that the steps see as `/app`. */
export function treeOf({ app }: BuildFolder, { release }: BuildSpec, dataDir: string): string {
  return release === undefined ? app : releaseApp(dataDir, release);
}

/**
 * Writes the commands as files, so that no argument list of the machine shows them. The files set the variables: neither
 * the gate nor the program that makes the sandbox may obey a customer's.
 */
export function writeStepFiles(
  { conf, source }: BuildFolder,
  { steps, release, runtime, variables, terminal }: BuildSpec,
  { tree, account, sandbox }: Pick<StepParts, "tree" | "account" | "sandbox">,
): void {
  const user = account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const isRun = release !== undefined;
  const beginning = isRun ? fillWritable(copiedIn(tree, runtime, sandbox)) : "";
  const exports = beginning + exportsOf(variables) + (terminal === true ? OUTLIVE_KEYS : "");
  const commands = steps.map(({ command }, index): [string, string] => [
    String(index),
    `${exports}${command}\n`,
  ]);
  for (const [name, content] of [...Object.entries(nameFiles(user)), ...commands]) {
    writeFileSync(join(conf, name), content, { mode: 0o640 });
    if (account !== null) chownSync(join(conf, name), 0, account.gid);
  }
  if (release !== undefined) return;
  chmodSync(source, 0o640);
  if (account !== null) chownSync(source, 0, account.gid);
}

export function stepOptions(
  { folder, spec, account, cache, tree, cgroups, portRange, sandbox, runtime }: StepParts,
  name: string,
  words: string[],
  io: Pick<StepOptions, "output" | "terminal">,
): StepOptions {
  const { id, memoryBytes, maxProcesses, cpus, diskBytes } = spec;
  const mounts: Mount[] = [
    { from: tree, to: "/app", isWritable: cache !== null },
    ...(cache === null ? [] : [{ from: cache, to: "/cache", isWritable: true }]),
    { from: folder.conf, to: CONF_PLACE, isWritable: false },
    ...(name === "source" ? [{ from: folder.source, to: "/run/source.tar", isWritable: false }] : []),
    ...(cache === null ? mountsOfWritable(tree, writableIn(tree, spec.runtime, sandbox, memoryBytes)) : []),
    ...runtime.mounts,
  ];
  const directory = appPlace(tree, sandbox);
  const temporary = cache === null ? folder.work : folder.tmp;
  const view = { mounts, links: runtime.links, temporary, directory, endsWithParent: true };
  return {
    command: sandboxed(sandbox, view, io.terminal === null ? words : [...IN_TERMINAL, ...words]),
    env: {
      ...variablesOf(runtime, cache, { directory, temporary, isOwn: hasOwnPlaces(sandbox) }),
      ...sandbox.env,
      ...(io.terminal !== null && { TERM }),
    },
    account,
    cgroups,
    group: groupOf(id),
    limits: {
      memoryBytes: Math.min(memoryBytes, totalmem()),
      maxProcesses,
      cpus,
      reserved: { range: portRange, own: null },
    },
    maxFileBytes: diskBytes,
    lock: folder.lock,
    ...io,
  };
}

/** The variables of a step beside the customer's. @param isOwn whether the sandbox has places of its own. */
function variablesOf(
  runtime: ReadyRuntime,
  cache: string | null,
  { directory, temporary, isOwn }: { directory: string; temporary: string; isOwn: boolean },
): Record<string, string> {
  if (cache === null) return applicationVariables(runtime, directory, isOwn ? null : temporary);
  return isOwn
    ? buildVariables(runtime, { app: directory, cache: "/cache", home: "/home/app", temporary: null })
    : buildVariables(runtime, { app: directory, cache, home: cache, temporary });
}

/** Tar refuses names that lead out of the folder, and restores neither owners nor special modes. */
export function unpackWords(sandbox: Sandbox, { source, app }: BuildFolder): string[] {
  const place = hasOwnPlaces(sandbox) ? "/run/source.tar" : source;
  const options = [
    "--no-same-owner",
    "--no-same-permissions",
    "--no-overwrite-dir",
    "--warning=no-timestamp",
  ];
  return ["/bin/tar", "--extract", `--file=${place}`, `--directory=${appPlace(app, sandbox)}`, ...options];
}
