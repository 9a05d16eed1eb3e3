// What the console says of a command: its state in a word, and its first line.
import type { CommandResource, CommandStatus } from "../../../sdk/index.ts";

const WORDS: Record<CommandStatus, string> = {
  pending: "waiting",
  "command.created": "waiting",
  "command.running": "under way",
  "command.success": "succeeded",
  "command.failure": "failed",
};

/** `waiting`, `under way`, `succeeded` or `failed`. */
export function commandState({ attributes: { status } }: CommandResource): string {
  return WORDS[status];
}

/** Whether a command has not ended. */
export function isOpenCommand({ attributes }: CommandResource): boolean {
  return attributes.finished_at === null;
}

/** The first line that is not empty; a command has such a line. */
export function firstLineOf({ attributes: { command } }: CommandResource): string {
  return command.trim().split("\n")[0] ?? "";
}
