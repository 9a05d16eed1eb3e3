// Keeps the logs of engines bounded.
import { messageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import { boundLog } from "./engine-log.ts";
import { instanceFolder } from "./layout.ts";

/** Trims the logs of instances: an engine may run for years, and a customer may have it write without a pause. */
export function trimLogs(instances: Iterable<{ id: string }>, dataDir: string, log: Log): void {
  for (const { id } of instances) {
    boundLog(instanceFolder(dataDir, id).log).catch((error: unknown) =>
      log.error({ error: messageOf(error), instance: id }, "a log could not be trimmed"),
    );
  }
}
