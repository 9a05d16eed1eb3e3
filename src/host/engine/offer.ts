// What this host can offer: the engines that are installed, the runtimes of applications, and its memory.
import { totalmem } from "node:os";
import type { Offer } from "../../contracts/host-answers.ts";
import { runnableEngines } from "../../engines/index.ts";
import { offeredRuntimes } from "../../engines/runtimes/offer.ts";
import { newestOfEachMajor, offered, type HostSettings } from "./context.ts";

/** The offer as it is now. */
export async function offerOf(settings: HostSettings): Promise<Offer> {
  const engines = await runnableEngines(settings);
  const { sandbox } = settings;
  return {
    engines: newestOfEachMajor(engines).map(offered),
    memoryBytes: totalmem(),
    ...(sandbox && {
      isolation: sandbox.now.level,
      runtimes: await offeredRuntimes(settings.enginesDir, sandbox.now),
    }),
  };
}
