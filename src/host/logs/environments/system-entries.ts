// What the log of an environment says of the life of its processes.
import type { JournalRecord } from "../../../contracts/journal.ts";
import type { LogLevel } from "../../../contracts/logs.ts";
import type { WakeReason } from "../../../contracts/sleep.ts";
import { OWN_USER } from "../../../contracts/wake-reasons.ts";

interface SystemEntry {
  message: string;
  level: LogLevel;
  /** Whether the process writes nothing any more. */
  isEnd: boolean;
}

/** The entry of a record; null for a record that says nothing of processes. */
export function systemEntry(
  type: JournalRecord["type"],
  { reason, wake }: JournalRecord["details"],
): SystemEntry | null {
  switch (type) {
    case "started":
      return entry("The process was started.");
    case "restarted":
      return entry("The process was started again after it had ended by itself.", "warning");
    case "stopped":
      return entry(reason ?? "The process was ended.", reason === undefined ? "info" : "warning", true);
    case "crashed":
      return entry("The process ended by itself.", "error", true);
    case "asleep":
      return entry("It sleeps until the next request.");
    case "awake":
      return entry(wakeSentence(wake?.reason));
    case "failed":
    case "disk_full":
      return entry(reason ?? "It could not be started.", "error");
    case "out_of_memory":
      return entry(
        "A process was killed, because it took more memory than the size of the instance.",
        "error",
      );
    case "gap":
      return null;
  }
}

function wakeSentence(reason: WakeReason | undefined): string {
  if (reason?.user !== OWN_USER) return "A request has woken it.";
  return `Pilvi has woken it for its ${reason.application ?? "change"}.`;
}

function entry(message: string, level: LogLevel = "info", isEnd = false): SystemEntry {
  return { message, level, isEnd };
}
