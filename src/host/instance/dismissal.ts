// Asks the clients of an instance that is about to be removed not to come back.
import type { Log } from "../../lib/log.ts";
import type { Instance } from "./instance.ts";

/** Dismisses clients if possible. A removal waits for no engine that does not run or does not answer. */
export async function dismissClients(instance: Instance | undefined, log: Log): Promise<void> {
  try {
    const running = instance?.running;
    await running?.engine.dismiss?.(running.context);
  } catch (error) {
    log.debug({ error, instance: instance?.id }, "clients could not be notified of a removal");
  }
}
