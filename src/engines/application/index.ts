// How the host runs a process of a customer's application: a command of the customer's in a sandbox, on a release.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ApplicationSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import { PublicError } from "../../lib/errors.ts";
import { lastLines } from "../../lib/last-lines.ts";
import { isListening } from "../../lib/port-probe.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { ApplicationPlace, Engine, EngineContext } from "../engine.ts";
import { grantedMemory } from "../memory.ts";
import { appPlace, below, confPlace } from "../runtimes/runtimes.ts";
import { gatedProgram, gatedScript } from "../sandbox/gate.ts";
import { CONF_PLACE, hasOwnPlaces, nameFiles, sandboxed, type Mount } from "../sandbox/sandbox.ts";
import { answersAt } from "./health.ts";
import { readLogLine } from "./log-line.ts";
import { commandFile, exportsOf } from "./command-file.ts";
import { credentialsOf, othersOf } from "./credentials.ts";
import { FPM_FILE, fpmConfig, phpScript, type PhpSite, phpSiteConfig, SITE_FILE } from "./php-site.ts";
import { siteConfig, TYPES, TYPES_FILE } from "./site.ts";
import { applicationVariables } from "./variables.ts";
import { copiedIn, fillWritable, mountsOfWritable, writableIn } from "./writable.ts";

const [COMMAND_FILE, GROUP_FILE, CREDENTIALS_FILE] = ["start", "group", "credentials"];

/** How long a process without a port has to run; most programs that cannot run have ended by then. */
const STEADY_MS = 500;

/** How many of the last lines the reason of a failure has. */
const SHOWN_LINES = 10;

export const application: Engine<ApplicationSpec> = {
  name: "application",
  kind: "application",
  protocol: null,
  majorOf: () => "any",
  limits,
  files,
  // A process that runs keeps the credentials of its start, and goes on without the groups that an earlier Pilvi did not
  // write.
  appliedFiles: [CREDENTIALS_FILE, GROUP_FILE],
  args: () => [],
  command,
  socketName: () => "application.sock",
  readyLine: null,
  readLogLine,
  isReady,
  stillServes,
  env,
  fitsProcessLimit: false,
  startTimeoutMs: ({ startTimeoutSeconds }) => startTimeoutSeconds * 1_000,
  stopsGroup: true,
  stopSignal: "SIGTERM",
  stopTimeoutMs: 10_000,
  stopTimeoutOf: ({ shutdownTimeoutSeconds }) => shutdownTimeoutSeconds * 1_000,
  explain,
  explainDelay,
};

/** A process without a port has nothing to ask: it counts as running when it has not ended for a while. */
async function isReady({
  spec: { exposure, healthPath },
  address,
}: EngineContext<ApplicationSpec>): Promise<boolean> {
  if (exposure.port !== null) return await answersAt(address, exposure.port, healthPath);
  await Bun.sleep(STEADY_MS);
  return true;
}

function stillServes({ spec: { exposure }, address }: EngineContext<ApplicationSpec>): boolean {
  return exposure.port === null || isListening(address, exposure.port);
}

function limits({ memoryBytes, cpus, maxProcesses }: ApplicationSpec, machineBytes: number): Limits {
  return {
    memoryBytes: grantedMemory(memoryBytes, machineBytes),
    maxProcesses,
    ...(cpus !== null && { cpus }),
    enforcedBy: "engine",
  };
}

function files(context: EngineContext<ApplicationSpec>): Record<string, string> {
  const { spec, account } = context;
  const names = nameFiles(account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  // A new release, other variables or another command are another file, so that they restart the process.
  const settings = JSON.stringify([
    spec.release,
    spec.runtime,
    othersOf(spec),
    spec.command,
    ...levelOf(context),
  ]);
  const digest = new Bun.CryptoHasher("sha256").update(settings).digest("hex");
  const common = { ...names, settings: `${digest}\n` };
  if (spec.runtime.name === "static") return { ...common, [SITE_FILE]: siteOf(context), [TYPES_FILE]: TYPES };
  const site = phpSiteOf(context);
  const script = { ...common, [COMMAND_FILE]: scriptOf(context), ...credentialsFile(context) };
  if (site === null) return script;
  return { ...script, [SITE_FILE]: phpSiteConfig(site), [FPM_FILE]: fpmConfig(site), [TYPES_FILE]: TYPES };
}

/** Another level restarts the process as well; the usual level is left out. */
function levelOf(context: Pick<EngineContext<ApplicationSpec>, "application">): string[] {
  const { level } = placeOf(context).sandbox;
  return level === "bubblewrap" ? [] : [level];
}

/** The credentials lie apart from the script, which a change of them leaves as it is. */
function credentialsFile({ spec }: EngineContext<ApplicationSpec>): Record<string, string> {
  const lines = exportsOf(credentialsOf(spec));
  return lines === "" ? {} : { [CREDENTIALS_FILE]: lines };
}

/** The script sets the variables: neither the gate nor the program that makes the sandbox may obey a customer's. */
function scriptOf({ spec, paths, ...context }: EngineContext<ApplicationSpec>): string {
  const { sandbox, runtime, app } = placeOf(context);
  const conf = confPlace(paths.confDir, sandbox);
  const exports = exportsOf(othersOf(spec)) + credentialsLine(spec, conf);
  const lines = fillWritable(copiedIn(app, spec.runtime, sandbox)) + exports;
  if (spec.command === null && spec.runtime.name === "php" && runtime.server !== null)
    return phpScript(conf, runtime.server, lines);
  return lines + commandFile(spec.command ?? missingCommand());
}

function credentialsLine(spec: ApplicationSpec, conf: string): string {
  return exportsOf(credentialsOf(spec)) === "" ? "" : `. ${shellWord(join(conf, CREDENTIALS_FILE))}\n`;
}

/** The public folder that is served with PHP; null where a command of the customer's serves. */
function phpSiteOf({
  spec,
  paths,
  address,
  limits: { memoryBytes },
  ...context
}: EngineContext<ApplicationSpec>): PhpSite | null {
  const { sandbox, app } = placeOf(context);
  if (spec.runtime.name !== "php" || spec.runtime.folder === null || spec.command !== null) return null;
  const { folder, writable } = spec.runtime;
  const inside = folder === "." ? "" : `${folder}/`;
  return {
    root: below(appPlace(app, sandbox), folder),
    writable: writable.filter((each) => each.startsWith(inside)).map((each) => each.slice(inside.length)),
    isWhole: existsSync(join(app, folder, "composer.json")) || folder === ".",
    address,
    port: portOf(spec.exposure),
    types: join(confPlace(paths.confDir, sandbox), TYPES_FILE),
    memoryBytes: memoryBytes ?? spec.memoryBytes,
    shutdownSeconds: spec.shutdownTimeoutSeconds,
  };
}

function siteOf({ spec, paths, address, ...context }: EngineContext<ApplicationSpec>): string {
  if (spec.runtime.name !== "static") throw new PublicError("The application is no static site.");
  const { sandbox, app } = placeOf(context);
  return siteConfig({
    runtime: spec.runtime,
    root: below(appPlace(app, sandbox), spec.runtime.folder),
    address,
    port: portOf(spec.exposure),
    tmp: hasOwnPlaces(sandbox) ? "/tmp" : paths.tmpDir,
    types: join(confPlace(paths.confDir, sandbox), TYPES_FILE),
  });
}

/** The words that start the process, which waits at the gate of its sandbox. */
function command(context: EngineContext<ApplicationSpec>): string[] {
  const { spec, paths } = context;
  const { sandbox, runtime, app } = placeOf(context);
  const conf = confPlace(paths.confDir, sandbox);
  const words =
    spec.runtime.name !== "static" || runtime.server === null
      ? gatedScript(join(conf, COMMAND_FILE))
      : gatedProgram([runtime.server.program, "-e", "stderr", "-p", "/", "-c", join(conf, SITE_FILE)]);
  const mounts: Mount[] = [
    { from: app, to: "/app", isWritable: false },
    { from: paths.confDir, to: CONF_PLACE, isWritable: false },
    ...mountsOfWritable(app, writableIn(app, spec.runtime, sandbox, spec.memoryBytes)),
    ...runtime.mounts,
  ];
  const directory = appPlace(app, sandbox);
  const places = { links: runtime.links, temporary: paths.tmpDir, directory };
  return sandboxed(sandbox, { mounts, ...places, endsWithParent: false }, words);
}

function env(context: EngineContext<ApplicationSpec>): Record<string, string> {
  const { spec, address, paths } = context;
  const { sandbox, runtime, app } = placeOf(context);
  return {
    ...applicationVariables(runtime, appPlace(app, sandbox), hasOwnPlaces(sandbox) ? null : paths.tmpDir),
    HOST: address,
    ...(spec.runtime.name === "static" && runtime.server?.env),
    ...sandbox.env,
    ...(spec.exposure.port !== null && { PORT: String(spec.exposure.port) }),
  };
}

function placeOf({
  application: place,
}: Pick<EngineContext<ApplicationSpec>, "application">): ApplicationPlace {
  if (place === undefined) throw new PublicError("This host runs no applications.");
  return place;
}

function portOf({ port }: ApplicationSpec["exposure"]): number {
  if (port === null) throw new PublicError("The application has no port to listen at.");
  return port;
}

function missingCommand(): never {
  throw new PublicError("The application has no command to start it.");
}

function explain(logTail: string): string {
  const end = outputEnd(logTail);
  if (end === "") return "The application ended before it was ready, without a word.";
  return `The application ended before it was ready. Its last lines:\n${end}`;
}

function explainDelay({ spec, address }: EngineContext<ApplicationSpec>, logTail: string): string {
  const { healthPath: path, startTimeoutSeconds: seconds, exposure } = spec;
  const { port } = exposure;
  const missing =
    port === null || isListening(address, port)
      ? `The application did not answer ${path ?? "/"} with a status below 500 within ${seconds} s.`
      : `Nothing listens at ${address} at the port that the variable PORT names (${port}) after ${seconds} s. The application may listen at another port, or at ::1 alone.`;
  const end = outputEnd(logTail);
  return `${missing}${end === "" ? "" : ` Its last lines:\n${end}`}`;
}

/** Frames of PHP's traces are left out as well. */
function outputEnd(logTail: string): string {
  const lines = logTail
    .split("\n")
    .filter((line) => !/^(?:# pilvi |#\d+ |\[stacktrace\]$|"\} *$)/.test(line));
  return lastLines(lines, SHOWN_LINES).join("\n");
}
