// The scheduler of an instance: a background process that runs the scheduled work of Laravel each minute.
import type { Plan } from "../../../contracts/plan.ts";

/** What the scheduler runs. */
export const SCHEDULE_COMMAND = "php artisan schedule:run";

/** Whether a release has scheduled work: it is a part of Laravel alone. */
export function hasSchedule({ framework }: Pick<Plan, "framework">): boolean {
  return framework === "Laravel";
}

/**
 * The lines for a shell that run a command at the beginning of each minute. A run that takes longer leaves out minutes.
 * No run is in the minute in which the process started, since a former process may have had it. A run that is under way
 * at the end is not cut off: it ends by itself, in the time that the process has.
 */
export function everyMinute(command: string): string {
  const failure = { level: "error", message: `${command} ended with the exit code %s.` };
  return [
    "ending=",
    "trap 'ending=yes' TERM INT",
    "last=$(($(date +%s) / 60))",
    'while [ -z "$ending" ]; do',
    // A shell that waits ends at once, and without a word about the end of the pause.
    "  sleep $((60 - $(date +%s) % 60)) & wait",
    "  minute=$(($(date +%s) / 60))",
    // The pause may be some milliseconds short of the minute.
    '  if [ -n "$ending" ] || [ "$minute" = "$last" ]; then continue; fi',
    "  last=$minute",
    `  (trap '' TERM INT; ${command})`,
    "  code=$?",
    `  if [ "$code" != 0 ]; then printf '${JSON.stringify(failure)}\\n' "$code"; fi`,
    "done",
  ].join("\n");
}
