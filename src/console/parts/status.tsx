// The state of a resource as a dot with a word; colour never stands alone.
import type { SleepState } from "./kind.ts";

const DOTS: Record<string, string> = {
  available: "bg-good",
  running: "bg-good",
  succeeded: "bg-good",
  finished: "bg-good",
  creating: "bg-work pulse",
  updating: "bg-work pulse",
  restarting: "bg-work pulse",
  restoring: "bg-work pulse",
  pending: "bg-work pulse",
  deploying: "bg-work pulse",
  waiting: "bg-work pulse",
  "under way": "bg-work pulse",
  building: "bg-work pulse",
  releasing: "bg-work pulse",
  deleting: "bg-work pulse",
  unknown: "bg-bad",
  failed: "bg-bad",
  "restore failed": "bg-bad",
  asleep: "bg-rest",
  hibernating: "bg-rest",
};

/** @param sleep shown in place of `available`, as an instance that sleeps is available too. */
export function Status({ status, sleep }: { status: string; sleep?: SleepState | undefined }) {
  const isResting = status === "available" && sleep !== undefined && sleep.state !== "awake";
  const word = isResting ? sleep.state : status.replaceAll("_", " ");
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap" data-status={status}>
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${DOTS[word] ?? "bg-edge"}`} />
      <span>{word}</span>
    </span>
  );
}

/** A name with the dot of its state; screen readers and the tooltip say the state. */
export function StatusDot({ status, label }: { status: string; label: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={`${label}: ${status}`}>
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${DOTS[status] ?? "bg-edge"}`} />
      <span className="truncate text-sm">{label}</span>
      <span className="sr-only">{status}</span>
    </span>
  );
}
