// The announcement of an instance to the keeper: its engine, and where its log is.
import type { Announcement } from "../../contracts/keeper.ts";
import type { DataSource } from "./data-source.ts";

/** The announcement of an instance as it is now. @throws PublicError while it has no data. */
export async function announcementOf(source: DataSource): Promise<Announcement> {
  const { engine, context } = await source.runnable();
  const { name, version } = context.installed;
  const known = { engine: { name, version, major: engine.majorOf(version) } };
  const log = engine.backup?.log;
  if (log === undefined || log === null || !log.isKept(context.spec)) return { ...known, log: null };
  const { dataDir } = context.paths;
  return {
    ...known,
    log: {
      folder: log.folder(dataDir),
      isAwake: source.isAwake,
      segmentBytes: log.segmentBytes(dataDir),
      ...(log.format !== undefined && { format: log.format }),
    },
  };
}

/** The position at which a segment begins. */
export function startOfSegment(name: string, segmentBytes: number): string {
  const [high, low] = [name.slice(8, 16), name.slice(16, 24)].map((digits) => Number.parseInt(digits, 16));
  return `${hex(high ?? 0)}/${hex((low ?? 0) * segmentBytes)}`;
}

function hex(value: number): string {
  return value.toString(16).toUpperCase();
}
