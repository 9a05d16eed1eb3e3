// How a Postgres is backed up and restored.
import { join } from "node:path";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { EngineBackup, EngineLog } from "../../backup.ts";
import { readControlFile, segmentBytesOf } from "../control-file.ts";
import { coldCopy } from "./cold.ts";
import { unpackCommand } from "./copy.ts";
import { hotCopy } from "./hot.ts";
import { recover } from "./recover.ts";
import { replica } from "./replica.ts";
import { logStatus, releaseLog } from "./slot.ts";
import { verify } from "./verify.ts";

const log: EngineLog<PostgresSpec> = {
  folder: (dataDir) => join(dataDir, "pg_wal"),
  segmentBytes: (dataDir) => {
    const control = readControlFile(dataDir);
    if (control === null) throw new PublicError("There is no data to back up yet.");
    return segmentBytesOf(control);
  },
  isKept: ({ keepsLog }) => keepsLog === true,
  status: logStatus,
  release: releaseLog,
  replica,
};

export const backup: EngineBackup<PostgresSpec> = {
  log,
  begin: hotCopy,
  cold: coldCopy,
  unpack: (_facts, dataDir) => unpackCommand(dataDir),
  recover,
  verify,
};
