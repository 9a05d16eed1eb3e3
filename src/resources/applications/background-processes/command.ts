// The command of a background process: its own, or that of the framework's queue worker with the options of its config.
import type { WorkerConfig } from "./schema.ts";
import type { BackgroundProcessRow } from "./store.ts";

/** The text for a shell. The schema of the options leaves no character in them that a shell would understand. */
export function commandOfProcess({
  command,
  config,
}: Pick<BackgroundProcessRow, "command" | "config">): string {
  return command ?? workerCommand(config);
}

function workerCommand({ connection, force, ...options }: WorkerConfig): string {
  const given = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const words = ["php artisan queue:work", connection, ...given, force === true ? "--force" : undefined];
  return words.filter((word) => word !== undefined).join(" ");
}
