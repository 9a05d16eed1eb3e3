// Why builds end without a release, in sentences for their owners.
import type { Build, BuildSpec } from "../../contracts/builds.ts";
import { MAX_LEVELS } from "../os/disk-use.ts";
import { MAX_ENTRIES, type DiskBound } from "./disk-watch.ts";

/** A word for programs, and a sentence for people. */
export type Failure = NonNullable<Build["failure"]>;

/** What people call it. */
export function nounOf({ release }: Pick<BuildSpec, "release">): "build" | "command" {
  return release === undefined ? "build" : "command";
}

/** What a sentence about a step begins with. */
export function subjectOf({ release }: Pick<BuildSpec, "release">, step: string): string {
  return release === undefined ? `The step ${step}` : "The command";
}

/** A build comes to its end without a release. */
export class BuildFailure extends Error {
  readonly failure: Failure;

  constructor(code: Failure["code"], message: string) {
    super(message);
    this.failure = { code, message };
  }
}

/** A step took more memory than it may. */
export function memoryFailure(spec: BuildSpec, step: string): BuildFailure {
  const mib = Math.floor(spec.memoryBytes / 1024 ** 2);
  const message = `${subjectOf(spec, step)} needs more memory than the ${mib} MiB that it may take.`;
  return new BuildFailure("memory", message);
}

/** A step ended by itself, and not well. @param exitCode null for a step that was killed. */
export function stepFailure(spec: BuildSpec, step: string, exitCode: number | null): BuildFailure {
  const how = exitCode === null ? "was killed" : `ended with the exit code ${exitCode}`;
  const where = spec.terminal === true ? "" : "; its output says why";
  return new BuildFailure("step", `${subjectOf(spec, step)} ${how}${where}.`);
}

/** The build made nothing at the place that is to be served. */
export function servedFailure(served: string): BuildFailure {
  const message = `The build made no files in ${served}, the folder that its plan serves. Have it write its files there, or set serving_root to the folder that has them.`;
  return new BuildFailure("step", message);
}

/** The build took too long. */
export function deadlineFailure(spec: BuildSpec): Failure {
  return {
    code: "deadline",
    message: `The ${nounOf(spec)} took longer than its ${spec.deadlineSeconds} seconds.`,
  };
}

/** The build took too much of the disk. */
export function diskFailure(spec: BuildSpec, bound: DiskBound): Failure {
  const who = spec.release === undefined ? "The build and its cache" : "The command";
  const excess = {
    bytes: `took more than the ${Math.floor(spec.diskBytes / 1024 ** 2)} MiB of disk that it may take`,
    entries: `made more than ${MAX_ENTRIES.toLocaleString("en")} files and folders`,
    levels: `made folders in more than ${MAX_LEVELS} levels, or with names that are too long together`,
  };
  return { code: "disk", message: `${who} ${excess[bound]}.` };
}

/** The build ended with its host. */
export function interruption(spec: BuildSpec): Failure {
  const noun = nounOf(spec);
  const message = `The host ended while the ${noun} ran, so the ${noun} was ended too. Begin it again.`;
  return { code: "interrupted", message };
}

/** The disk of the machine is nearly full. */
export function lowDiskFailure(spec: BuildSpec): Failure {
  const noun = nounOf(spec);
  const message = `The disk of the machine is nearly full, so the ${noun} was ended. Begin it again when there is room.`;
  return { code: "disk", message };
}
