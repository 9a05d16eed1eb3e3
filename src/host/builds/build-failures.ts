// Why builds end without a release, in sentences for their owners.
import type { Build, BuildSpec } from "../../contracts/builds.ts";

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

/** The build took too long. */
export function deadlineFailure(spec: BuildSpec): Failure {
  return {
    code: "deadline",
    message: `The ${nounOf(spec)} took longer than its ${spec.deadlineSeconds} seconds.`,
  };
}

/** The build took too much of the disk. */
export function diskFailure(spec: BuildSpec): Failure {
  const mib = Math.floor(spec.diskBytes / 1024 ** 2);
  const who = spec.release === undefined ? "The build and its cache" : "The command";
  return { code: "disk", message: `${who} took more than the ${mib} MiB of disk that it may take.` };
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
