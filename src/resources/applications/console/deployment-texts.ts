// What the console says of a deployment: its state in a word, its length of time, and who began it.
import type { DeploymentResource, DeploymentStatus } from "../../../sdk/index.ts";

const WORDS: Partial<Record<DeploymentStatus, string>> = {
  "build.running": "building",
  "build.succeeded": "releasing",
  "deployment.pending": "releasing",
  "deployment.created": "releasing",
  "deployment.queued": "releasing",
  "deployment.running": "releasing",
  "deployment.succeeded": "succeeded",
  "deployment.failed": "failed",
  "build.failed": "failed",
  failed: "failed",
  cancelled: "cancelled",
};

const ENDS = new Set(["succeeded", "failed", "cancelled"]);
const SHORT_HASH = 7;

/** `waiting`, `building`, `releasing`, `succeeded`, `failed` or `cancelled`. */
export function deploymentState({ attributes: { status } }: DeploymentResource): string {
  return WORDS[status] ?? "waiting";
}

/** Whether a deployment has not ended. */
export function isOpen(deployment: DeploymentResource): boolean {
  return !ENDS.has(deploymentState(deployment));
}

/** The first line of the message of its commit, or its hash, or its branch before the commit is known. */
export function titleOf({ attributes }: DeploymentResource): string {
  const { commit_message: message, commit_hash: hash, branch_name: branch } = attributes;
  const [line = ""] = (message ?? "").trim().split("\n");
  return line || (hash === null ? `The newest commit of ${branch}` : shortHash(hash));
}

export function shortHash(hash: string): string {
  return hash.slice(0, SHORT_HASH);
}

/** Who began a deployment or a command: a member, or nobody whose name is known, such as a push. */
export function initiatorOf(
  { relationships }: { relationships: Pick<DeploymentResource["relationships"], "initiator"> },
  members: ReadonlyMap<string, string>,
): string | undefined {
  const id = relationships.initiator.data?.id;
  return id === undefined ? undefined : (members.get(id) ?? "a former member");
}

/** What begins and ends, such as a deployment or a command. */
export interface Run {
  attributes: { started_at: string | null; finished_at: string | null };
}

/** How long it takes or took, in milliseconds; undefined before its beginning. */
export function lengthOf({ attributes }: Run, now: number): number | undefined {
  const { started_at: from, finished_at: until } = attributes;
  if (from === null) return undefined;
  return Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(from));
}

/** Such as `0.8 s` or `2 min 5 s`. */
export function lengthText(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
