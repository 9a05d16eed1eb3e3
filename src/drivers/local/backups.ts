// The requests of the driver about backups, which the host makes and its keeper stores.
import * as z from "zod/mini";
import {
  archiveStateSchema,
  archiveStatesSchema,
  backupInfoSchema,
  restorePlanSchema,
} from "../../contracts/keeper.ts";
import { verifiedRestoreSchema } from "../../contracts/verification.ts";
import type { Driver } from "../driver.ts";
import { bounded } from "./bounded.ts";
import type { HostConnection } from "./host-connection.ts";

const archiveSchema = z.nullable(archiveStateSchema);

type Backups = Pick<
  Driver,
  "backUp" | "archives" | "archive" | "deleteBackup" | "deleteArchive" | "retain" | "planRestore" | "verify"
>;

/** The part of the driver that makes backups and asks for archives. */
export function backups({ ask, askFor }: HostConnection): Backups {
  return {
    backUp: (id, backup, signal) =>
      askFor(backupInfoSchema, "PUT", `/instances/${id}/backups/${backup}`, { signal }),
    archives: () => askFor(archiveStatesSchema, "GET", "/archives", bounded()),
    archive: (id) => askFor(archiveSchema, "GET", `/archives/${id}`, bounded()),
    deleteBackup: async (archive, backup) =>
      void (await ask("DELETE", `/archives/${archive}/backups/${backup}`, bounded())),
    deleteArchive: async (archive) => void (await ask("DELETE", `/archives/${archive}`, bounded())),
    retain: async (archive, retention) =>
      void (await ask("POST", `/archives/${archive}/retain`, bounded(retention))),
    planRestore: (archive, target) =>
      askFor(restorePlanSchema, "POST", `/archives/${archive}/plan`, bounded(target)),
    verify: (archive, target, signal) =>
      askFor(verifiedRestoreSchema, "POST", `/archives/${archive}/verify`, {
        signal,
        body: JSON.stringify(target),
      }),
  };
}
