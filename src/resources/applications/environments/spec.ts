// The spec of an environment's processes, from the plan of a deployment and from the environment's settings.
import type { Runtime } from "../../../contracts/application.ts";
import type { ApplicationSpec } from "../../../contracts/instance-spec.ts";
import type { Plan, PlannedRuntime } from "../../../contracts/plan.ts";
import { PublicError } from "../../../lib/errors.ts";
import { sha256Hex } from "../../../lib/secrets.ts";
import { needsNode } from "../../../plan/commands.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import type { DeploymentRow } from "../deployments/store.ts";
import type { InstanceSize } from "../instances/sizes.ts";
import type { EnvironmentRow } from "./store.ts";

/** The most processes and threads of a process of an environment, for each of its processors. */
const PROCESSES_PER_CPU = 256;

/** Folders that frameworks write to while they serve. */
const WRITABLE_FOLDERS: Record<string, string[]> = {
  Laravel: ["storage", "bootstrap/cache"],
  Symfony: ["var"],
  CakePHP: ["tmp", "logs"],
  Yii: ["runtime", "web/assets"],
};

const START_TIMEOUT_SECONDS = 60;
const SECONDS_PER_MINUTE = 60;

/** A spec before its process has an id and an address. */
export type UnplacedSpec = Omit<ApplicationSpec, "id" | "deployment" | "exposure">;

/** What an environment gives its processes. */
export interface ProcessInputs {
  variables: Record<string, string>;
  /** The names of those with passwords of what is attached. */
  credentials: string[];
  /** The instances of what is attached. */
  reaches: string[];
}

/**
 * The spec of a process that serves a deployment.
 * @throws PublicError when this Pilvi cannot run the plan.
 */
export function processSpecOf(
  environment: EnvironmentRow,
  deployment: DeploymentRow,
  size: Pick<InstanceSize, "memoryBytes" | "cpus">,
  { variables, credentials, reaches }: ProcessInputs,
): UnplacedSpec {
  const { plan, settings } = runnable(environment, deployment);
  return {
    kind: "application",
    engines: ["application"],
    users: [],
    environment: environment.id,
    release: releaseOf(deployment),
    runtime: servingRuntime(plan),
    command: plan.serving.mode === "process" ? startCommand(plan) : null,
    variables,
    ...(credentials.length > 0 && { credentials }),
    ...(reaches.length > 0 && { reaches }),
    memoryBytes: size.memoryBytes,
    cpus: size.cpus,
    maxProcesses: PROCESSES_PER_CPU * size.cpus,
    healthPath: plan.healthPath.value,
    startTimeoutSeconds: START_TIMEOUT_SECONDS,
    shutdownTimeoutSeconds: settings.shutdown_timeout,
    sleepAfterSeconds: settings.uses_hibernation ? settings.sleep_timeout * SECONDS_PER_MINUTE : null,
  };
}

/** The spec of a background process beside the processes that serve; it answers nothing. */
export function backgroundSpecOf(
  serving: UnplacedSpec,
  plan: Plan,
  { memoryBytes, cpus }: Pick<InstanceSize, "memoryBytes" | "cpus">,
  command: string,
): UnplacedSpec {
  return {
    ...serving,
    runtime: processRuntime(plan, command),
    command: [...commandPrefix(plan.paths, plan.rootDirectory), command].join("\n"),
    memoryBytes,
    cpus,
    maxProcesses: PROCESSES_PER_CPU * cpus,
    healthPath: null,
  };
}

/**
 * Another digest needs another process. The deployment is a part of it, so that each deployment gets a new process. The
 * names of the credentials are none, so that processes of earlier releases, which had no such names, go on.
 */
export function digestOf(
  deployment: Pick<DeploymentRow, "id">,
  { credentials: _names, ...spec }: UnplacedSpec,
): string {
  return sha256Hex(JSON.stringify([deployment.id, spec]));
}

/** The id of the release that a deployment serves. */
export function releaseOf({ id, releaseOf: former }: Pick<DeploymentRow, "id" | "releaseOf">): string {
  return former ?? id;
}

/** The runtime of a build. */
export function buildRuntime(plan: Plan): Runtime {
  const node = plan.tools.find(({ name }) => name === "node");
  if (plan.runtime.name === "static" && node !== undefined) return runtimeOf(node);
  return withNode(runtimeOf(plan.runtime), plan);
}

/** The runtime with the Node.js of the plan beside it; Bun takes its place beside PHP and Python. */
function withNode(runtime: Runtime, { tools }: Plan): Runtime {
  const [tool] = tools;
  const node = tool?.name === "node" ? majorOf(tool.version ?? "24") : null;
  if (runtime.name === "php") return { ...runtime, node };
  if (runtime.name === "python" && tool !== undefined) return { ...runtime, node };
  return runtime.name === "bun" && node !== null ? { ...runtime, node } : runtime;
}

/** The runtime of commands in a release, which write where its application writes. */
export function commandRuntime(plan: Plan): Runtime {
  return writing(
    plan.runtime.name === "php" ? withNode(runtimeOf(plan.runtime), plan) : buildRuntime(plan),
    plan,
  );
}

/** The runtime of a process that goes on: without Node.js where its command needs none, as in earlier releases. */
function processRuntime(plan: Plan, command: string): Runtime {
  if (plan.runtime.name === "static") return buildRuntime(plan);
  const runtime = writing(runtimeOf(plan.runtime), plan);
  const isBeside = runtime.name === "python" || runtime.name === "bun";
  return isBeside && needsNode(command, runtime.name) ? withNode(runtime, plan) : runtime;
}

function runnable({ settings }: EnvironmentRow, { plan }: DeploymentRow) {
  if (plan === null) throw new PublicError("The deployment has no plan.");
  return { plan, settings };
}

function servingRuntime(plan: Plan): Runtime {
  const { mode, root, fallback } = plan.serving;
  const folder = inRelease(plan, root ?? "");
  if (mode === "static") return { name: "static", folder, fallback: fallback ? "index.html" : null };
  const runtime = processRuntime(plan, plan.start?.command ?? "");
  return runtime.name === "php" && mode === "php" ? { ...runtime, folder } : runtime;
}

/** The folder that a web server of Pilvi's serves; null where a process answers by itself. */
export function servedFolder(plan: Plan): string | null {
  const { mode, root } = plan.serving;
  return mode === "process" ? null : inRelease(plan, root ?? "");
}

/** The runtime with the folders that the framework of the plan writes to. */
function writing(runtime: Runtime, plan: Plan): Runtime {
  if (plan.framework === "Next.js" && (runtime.name === "node" || runtime.name === "bun"))
    return { ...runtime, ...writtenByNext(plan) };
  if (runtime.name !== "php") return runtime;
  const writable = WRITABLE_FOLDERS[plan.framework ?? ""] ?? [];
  return { ...runtime, writable: writable.map((path) => inRelease(plan, path)) };
}

function writtenByNext(plan: Plan): { writable: string[]; growing: string[] } {
  // A standalone build has the folders of the source within it, from the top of the repository on.
  const inside = [".next/standalone", plan.rootDirectory, ".next"].filter((part) => part !== "").join("/");
  const folders = [".next", inside].map((folder) => inRelease(plan, folder));
  return {
    writable: folders.map((folder) => `${folder}/cache/fetch-cache`),
    growing: folders.flatMap((folder) => [`${folder}/cache`, `${folder}/server`]),
  };
}

function inRelease({ rootDirectory }: Plan, path: string): string {
  return [rootDirectory, path].filter((part) => part !== "").join("/") || ".";
}

function runtimeOf({ name, version }: PlannedRuntime): Runtime {
  switch (name) {
    case "node":
      return { name, version: majorOf(version ?? "24") };
    case "bun":
    case "deno":
    case "python":
      return { name };
    case "php":
      return { name, version: minorOf(version ?? ""), folder: null, writable: [], node: null };
    case "static":
      return { name, folder: ".", fallback: null };
    case "command":
      return { name: "system" };
  }
}

function majorOf(version: string): string {
  return version.split(".")[0] ?? version;
}

function minorOf(version: string): string {
  return version.split(".", 2).join(".");
}

/** The command runs in the root directory of its application, with the plan's folders before all others. */
function startCommand({ start, rootDirectory, paths }: Plan): string {
  if (start === null) throw new PublicError("The plan has no command that starts the application.");
  return [...commandPrefix(paths, rootDirectory), start.command].join("\n");
}

/** The lines before a command of a plan, which runs at the top of the source. */
export function commandPrefix(paths: readonly string[], directory: string): string[] {
  const folders = paths.map((path) => (path === "" ? '"$PWD"' : `"$PWD"/${shellWord(path)}`));
  return [
    ...(folders.length === 0 ? [] : [`export PATH=${folders.join(":")}:"$PATH"`]),
    ...(directory === "" ? [] : [`cd ${shellWord(directory)}`]),
  ];
}
