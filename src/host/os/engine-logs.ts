// Keeps the logs of engines bounded.
import { messageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import { trimLog } from "../../lib/trim-log.ts";
import { instanceFolder } from "./layout.ts";

/** Trims the logs of instances: an engine may run for years and write a line a second. */
export function trimLogs(instances: Iterable<{ id: string }>, dataDir: string, log: Log): void {
  for (const { id } of instances) {
    try {
      trimLog(instanceFolder(dataDir, id).log);
    } catch (error) {
      log.error({ error: messageOf(error), instance: id }, "a log could not be trimmed");
    }
  }
}
