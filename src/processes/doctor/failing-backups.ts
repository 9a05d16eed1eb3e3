// Names why backups cannot be stored at the moment, as a running Pilvi knows it.
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { hostSocket } from "../../host/os/layout.ts";
import { isLocked } from "../../host/os/locks.ts";
import { type Finding, warn } from "./finding.ts";

/** How long a running Pilvi has for its answer, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_REASONS = 5;

/** @returns a finding for each reason; none while Pilvi does not run. */
export async function checkFailingBackups({ dataDir }: Config): Promise<Finding[]> {
  if (!isLocked(join(dataDir, "host.lock"))) return [];
  const isSilent = Promise.withResolvers<null>();
  const timer = setTimeout(() => isSilent.resolve(null), TIMEOUT_MS);
  const archives = localDriver(hostSocket(dataDir))
    .archives()
    .catch(() => null);
  const states = await Promise.race([archives, isSilent.promise]);
  clearTimeout(timer);
  if (states === null)
    return [
      warn(
        "backups cannot be stored: the keeper of backups, or the host, does not answer",
        "See log/keeper.log and log/host.log in the data directory.",
      ),
    ];
  const reasons = new Set(states.flatMap(({ lastError }) => lastError ?? []));
  return [...reasons]
    .slice(0, MAX_REASONS)
    .map((reason) =>
      warn(`backups cannot be stored: ${reason}`, "Stored is what came before. Backups go on by themselves."),
    );
}
