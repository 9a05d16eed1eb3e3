// Makes one backup of an instance and stores it, unless it exists.
import type { BackupInfo } from "../../contracts/keeper.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { announcementOf } from "./announcement.ts";
import { copyData, type CopyingParts } from "./copy-data.ts";
import type { DataSource } from "./data-source.ts";
import type { KeeperClient } from "./keeper-client.ts";

/** What backups are made with. */
interface MakerParts extends CopyingParts {
  keeper: KeeperClient;
}

/** @throws PublicError when the backup cannot be made; nothing of it is kept then. */
export async function makeBackup(
  parts: MakerParts,
  source: DataSource,
  backup: string,
  signal: AbortSignal,
): Promise<BackupInfo> {
  const { keeper } = parts;
  const { id } = source;
  const made = (await keeper.archive(id, signal))?.backups.find((each) => each.id === backup);
  if (made !== undefined) return made;
  await keeper.announce(id, await announcementOf(source), signal);
  const facts = await copyData(parts, source, { backup, signal }, async ({ stream }, ends) => {
    const { plainBytes } = await keeper.store(id, backup, stream, ends);
    await failpoint("host.backup.stored");
    return plainBytes;
  });
  const info = await keeper.complete(id, backup, facts, signal);
  await failpoint("host.backup.completed");
  return info;
}
