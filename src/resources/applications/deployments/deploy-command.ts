// The run of a deploy command, as its host knows it.
import type { Build } from "../../../contracts/builds.ts";
import { storableText } from "../../../lib/storable.ts";

/** The id of the run in the release of a deployment. */
export function deployCommandId(deploymentId: string): string {
  return `${deploymentId}-deploy`;
}

/** A sentence about a run that has failed, with its last lines. */
export function lastStep(sentence: string, { failure }: Pick<Build, "failure">, lines: string[]): string {
  const message = failure?.message ?? sentence;
  // The host ends the output with the same sentence.
  return storableText([message, ...lines.filter((line) => line !== message)].join("\n"));
}
