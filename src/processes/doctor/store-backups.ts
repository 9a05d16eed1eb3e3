// Checks what the latest restore of Pilvi's own store found, which a running Pilvi makes once a day.
import { existsSync } from "node:fs";
import type { Config } from "../../config.ts";
import type { VerificationState } from "../../resources/kind.ts";
import { storeVerification } from "../../resources/shared/backups/store-verification.ts";
import { openVault } from "../bootstrap/identity.ts";
import { openStore, storeAddress } from "../bootstrap/store-instance.ts";
import { type Finding, ok, warn } from "./finding.ts";

const SUBJECT = "backups of Pilvi's own store";

/** @returns no finding while the store does not run, or is not Pilvi's own. */
export async function checkStoreBackups(config: Config): Promise<Finding[]> {
  // A missing key is not made here.
  if (config.databaseUrl !== undefined || !existsSync(config.keyFile)) return [];
  const state = await stateOf(config).catch(() => null);
  return state === null ? [] : [findingOf(state)];
}

async function stateOf(config: Config): Promise<VerificationState> {
  const db = await openStore(storeAddress(config, await openVault(config)), { maxConnections: 1 });
  try {
    return (await storeVerification(db)).state;
  } finally {
    await db.close();
  }
}

function findingOf({ latest, sound, error }: VerificationState): Finding {
  const [fault] = latest?.faults ?? [];
  if (fault !== undefined)
    return warn(
      `${SUBJECT}: the latest restore for a check found a fault: ${fault}`,
      "Run `npx pilvi backups check`, which names each damaged object.",
    );
  if (error !== null)
    return warn(
      `${SUBJECT} could not be restored for a check: ${error}`,
      "It is tried again within an hour; the log of the control plane has the cause.",
    );
  if (sound === null) return ok(`${SUBJECT} were not restored for a check so far`);
  const { endedAt, restoreSeconds } = sound;
  return ok(`${SUBJECT} were restored for a check at ${endedAt}, in ${restoreSeconds.toFixed(1)} s`);
}
