// Runs one build: brings the runtime, unpacks the source, runs the commands of the plan, and makes the release. Commands
// in a release run in the same way, and leave nothing but their output.
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Build, BuildSpec } from "../../contracts/builds.ts";
import type { Account } from "../../engines/engine.ts";
import type { PortRange } from "../../engines/packet-filter/ruleset.ts";
import { appPlace, confPlace, type RuntimeSources } from "../../engines/runtimes/runtimes.ts";
import type { Sandbox } from "../../engines/sandbox/sandbox.ts";
import { publicMessageOf } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { keepFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { dissolve, oomKills } from "../os/cgroup.ts";
import { treeSizeOf } from "../os/disk-use.ts";
import type { Environments } from "../os/environments.ts";
import { DEFAULT_PORT_RANGE } from "../os/network-rules.ts";
import {
  discardTree,
  noteBuild,
  prepareTree,
  publishRelease,
  servesFiles,
  writeBuild,
  type BuildFolder,
} from "./build-folder.ts";
import type { FollowedBuild } from "./build-followers.ts";
import { BuildLogWriter, StepOutput } from "./build-log.ts";
import {
  BuildFailure,
  deadlineFailure,
  diskFailure,
  lowDiskFailure,
  memoryFailure,
  nounOf,
  servedFailure,
  stepFailure,
  subjectOf,
  type Failure,
} from "./build-failures.ts";
import type { BuildStages, Stage } from "./build-stage.ts";
import { DiskWatch, MAX_ENTRIES } from "./disk-watch.ts";
import { groupOf, stepOptions, treeOf, unpackWords, writeStepFiles } from "./step-options.ts";
import { runStep } from "./step-process.ts";
import { TerminalSession } from "./terminal-session.ts";

/** How often the size of the output is looked at. */
const OUTPUT_CHECK_MS = 500;

/** A step that writes more than this keeps the host busy with nothing. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

/** What all builds of a host share. */
export interface BuildParts {
  dataDir: string;
  sources: () => RuntimeSources;
  sandbox: () => Promise<Sandbox>;
  cgroups: CgroupBackend | null;
  /** The ports of instances; the usual range when left out. */
  portRange?: PortRange | undefined;
  environments: Environments;
  log: Log;
}

export class BuildRun {
  readonly #parts: BuildParts;
  readonly #stages: BuildStages;
  readonly #folder: BuildFolder;
  readonly #spec: BuildSpec;
  #build: Build;
  readonly #log: Promise<BuildLogWriter>;
  readonly #stop = new AbortController();
  /** Why it was stopped; null for a cancel. */
  #stopped: Failure | null = null;
  #account: Account | null = null;
  readonly #disk: DiskWatch;
  /** The terminal of a command that has one. */
  readonly terminal: TerminalSession | null;

  constructor(parts: BuildParts, stages: BuildStages, folder: BuildFolder, order: FollowedBuild) {
    const { build, spec, onProgress } = order;
    this.#parts = parts;
    this.#stages = stages;
    this.#folder = folder;
    this.#spec = spec;
    this.#build = build;
    const secrets = spec.secrets.flatMap((name) => spec.variables[name] ?? []);
    this.#log = BuildLogWriter.of(folder.log, secrets, onProgress);
    this.terminal = spec.terminal === true ? new TerminalSession((failure) => this.stop(failure)) : null;
    this.#disk = new DiskWatch({
      folders: () => [folder.work, ...(this.#cache === null ? [] : [this.#cache])],
      maxBytes: spec.diskBytes,
      onFull: (bound) => this.stop(diskFailure(spec, bound)),
      onLow: () => this.stop(lowDiskFailure(spec)),
      log: parts.log,
    });
  }

  get spec(): BuildSpec {
    return this.#spec;
  }

  get build(): Build {
    return this.#build;
  }

  get #group(): string {
    return groupOf(this.#spec.id);
  }

  /** Kills all processes of the build at once; `run` then resolves. @param failure left out for a cancel. */
  stop(failure: Failure | null = null): void {
    if (this.#stop.signal.aborted) return;
    this.#stopped = failure;
    this.#stop.abort();
  }

  /**
   * Runs the build to its end: its state has the reason of a failure.
   * @throws when that state cannot be kept; the next host then finds the build cut off.
   */
  async run(): Promise<void> {
    const deadline = setTimeout(
      () => this.stop(deadlineFailure(this.#spec)),
      this.#spec.deadlineSeconds * 1_000,
    );
    this.#disk.begin();
    try {
      this.#change({ state: "running", startedAt: new Date().toISOString() });
      // After a power cut, a build may run anew, but commands in a release may not.
      if (this.#spec.release !== undefined) await keepFile(this.#folder.file);
      await failpoint("host.build.begun");
      await this.#runSteps();
      await this.#end({ state: "succeeded" });
    } catch (error) {
      await this.#end(this.#outcomeOf(error));
    } finally {
      clearTimeout(deadline);
      this.#disk.end();
      (await this.#log).close();
      await this.terminal?.end(this.#build);
    }
  }

  async #runSteps(): Promise<void> {
    const { environments, cgroups } = this.#parts;
    const { signal } = this.#stop;
    const sandbox = await this.#stages.sandbox(signal);
    this.#change({ isolation: sandbox.level });
    const runtime = await this.#stages.runtime(this.#spec.runtime, sandbox, signal);
    this.#account = environments.accountOf(this.#spec.environment);
    const { reaches = [] } = this.#spec;
    if (this.#account !== null)
      await environments.network.grant(this.#group, { uid: this.#account.uid, reaches, port: null });
    await prepareTree(this.#folder, this.#account);
    writeStepFiles(this.#folder, this.#spec, {
      tree: treeOf(this.#folder, this.#spec, this.#parts.dataDir),
      account: this.#account,
      sandbox,
    });
    await failpoint("host.build.prepared");
    const stage = { sandbox, runtime };
    if (this.#spec.release === undefined) return await this.#make(stage);
    await this.#runCommands(stage);
    await dissolve(cgroups, this.#group);
  }

  async #make(stage: Stage): Promise<void> {
    await this.#step("source", unpackWords(stage.sandbox, this.#folder), stage);
    rmSync(this.#folder.source, { force: true });
    await failpoint("host.build.unpacked");
    await this.#runCommands(stage);
    await this.#disk.check();
    this.#throwIfStopped();
    requireServed(this.#folder, this.#spec);
    const { bytes, hasSetIds } = await treeSizeOf(this.#folder.app, MAX_ENTRIES);
    const app = appPlace(this.#folder.app, stage.sandbox);
    const words = ["/usr/bin/find", app, "-perm", "/6000", "-exec", "/bin/chmod", "a-s", "{}", "+"];
    if (hasSetIds) await this.#step("release", words, stage);
    else this.#noteStep("release");
    this.#throwIfStopped();
    await dissolve(this.#parts.cgroups, this.#group);
    await publishRelease(this.#parts, this.#folder, this.#spec, { account: this.#account, bytes });
    await failpoint("host.build.published");
  }

  async #runCommands(stage: Stage): Promise<void> {
    for (const [index, { name }] of this.#spec.steps.entries()) {
      const script = join(confPlace(this.#folder.conf, stage.sandbox), String(index));
      await this.#step(name, ["/bin/sh", "-e", script], stage);
      await failpoint("host.build.stepped");
    }
  }

  async #step(name: string, words: string[], stage: Stage): Promise<void> {
    this.#throwIfStopped();
    const step = { name, startedAt: new Date().toISOString(), endedAt: null, exitCode: null };
    this.#change({ steps: [...this.#build.steps, step] });
    const output = new StepOutput(await this.#log, name);
    const [folder, spec, account] = [this.#folder, this.#spec, this.#account];
    const places = {
      cache: this.#cache,
      tree: treeOf(this.#folder, this.#spec, this.#parts.dataDir),
      cgroups: this.#parts.cgroups,
      portRange: this.#parts.portRange ?? DEFAULT_PORT_RANGE,
    };
    const parts = { folder, spec, account, ...places, ...stage };
    const check = setInterval(() => this.#checkOutput(name, output), OUTPUT_CHECK_MS);
    try {
      const { signal } = this.#stop;
      const terminal = (await this.terminal?.open(account, signal)) ?? null;
      const exitCode = await runStep(stepOptions(parts, name, words, { output, terminal }), signal);
      const ended = { ...step, endedAt: new Date().toISOString(), exitCode };
      this.#change({ steps: [...this.#build.steps.slice(0, -1), ended] });
      this.#throwIfStopped();
      this.terminal?.throwIfLost();
      if (exitCode === 0) return;
      const isOutOfMemory = oomKills(this.#parts.cgroups, this.#group) > 0;
      throw isOutOfMemory ? memoryFailure(spec, name) : stepFailure(spec, name, exitCode);
    } finally {
      clearInterval(check);
    }
  }

  /** A step that needs no process is a part of the log all the same. */
  #noteStep(name: string): void {
    const now = new Date().toISOString();
    const step = { name, startedAt: now, endedAt: now, exitCode: 0 };
    this.#change({ steps: [...this.#build.steps, step] });
  }

  /** Commands in a release leave the cache to the builds. */
  get #cache(): string | null {
    const { environment, release } = this.#spec;
    return release === undefined ? this.#parts.environments.cacheOf(environment) : null;
  }

  #checkOutput(name: string, output: StepOutput): void {
    if (output.received <= MAX_OUTPUT_BYTES) return;
    const message = `${subjectOf(this.#spec, name)} wrote more than ${MAX_OUTPUT_BYTES / 1024 ** 2} MiB of output.`;
    this.stop({ code: "output", message });
  }

  #throwIfStopped(): void {
    if (this.#stop.signal.aborted) throw new Error("the build was stopped");
  }

  #outcomeOf(error: unknown): Pick<Build, "state" | "failure"> {
    if (this.#stop.signal.aborted) {
      return { state: this.#stopped === null ? "cancelled" : "failed", failure: this.#stopped };
    }
    if (error instanceof BuildFailure) return { state: "failed", failure: error.failure };
    this.#parts.log.error({ error, build: this.#spec.id }, "a build could not be run");
    const message = publicMessageOf(
      error,
      `The host of this ${nounOf(this.#spec)} failed; its log says why.`,
    );
    return { state: "failed", failure: { code: "internal", message } };
  }

  async #end(outcome: Partial<Build>): Promise<void> {
    const { failure = null } = outcome;
    await this.#tidy(failure);
    this.#build = { ...this.#build, ...outcome, endedAt: new Date().toISOString() };
    await writeBuild(this.#folder, { build: this.#build, spec: this.#spec });
  }

  /** Leaves nothing of the build but its state, its log and its release. */
  async #tidy(failure: Failure | null): Promise<void> {
    const { cgroups, environments, log } = this.#parts;
    const { id, environment, release } = this.#spec;
    const steps = [
      // The room is freed first, since a full disk takes no note of the end.
      () => discardTree(this.#folder),
      () => rm(this.#folder.source, { force: true }),
      () => dissolve(cgroups, this.#group),
      () => environments.network.revoke(this.#group),
    ];
    // The cache has no use when it alone exceeds the disk of every further build.
    if (failure?.code === "disk" && release === undefined)
      steps.push(() => environments.clearCache(environment));
    if (failure !== null) steps.push(async () => (await this.#log).write("release", failure.message));
    for (const step of steps)
      await step().catch((error: unknown) =>
        log.warn({ error, build: id }, "the end of a build is not tidy"),
      );
  }

  #change(change: Partial<Build>): void {
    this.#build = { ...this.#build, ...change };
    noteBuild(this.#folder, { build: this.#build, spec: this.#spec });
  }
}

/** @throws BuildFailure for a release that would answer each request with 404. */
function requireServed(folder: BuildFolder, { served }: BuildSpec): void {
  if (served !== undefined && !servesFiles(folder, served)) throw servedFailure(served);
}
