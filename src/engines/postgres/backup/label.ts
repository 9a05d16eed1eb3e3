// The file `backup_label` of a hot copy: without it a Postgres would start from a checkpoint that came after the copy began.

/** What a label says. */
export interface Label {
  /** The id of the backup. */
  name: string;
  /** Where the replay begins. */
  startLsn: string;
  startSegment: string;
  timeline: number;
}

/** @returns null for a text that is no complete label. */
export function parseLabel(text: string): Label | null {
  const [, startLsn, startSegment] =
    /^START WAL LOCATION: ([0-9A-F]+\/[0-9A-F]+) \(file ([0-9A-F]{24})\)$/m.exec(text) ?? [];
  const name = /^LABEL: (.+)$/m.exec(text)?.[1];
  const timeline = /^START TIMELINE: (\d+)$/m.exec(text)?.[1];
  const hasCheckpoint = /^CHECKPOINT LOCATION: [0-9A-F]+\/[0-9A-F]+$/m.test(text);
  if (startLsn === undefined || startSegment === undefined || name === undefined) return null;
  if (timeline === undefined || !hasCheckpoint || !text.endsWith("\n")) return null;
  return { name, startLsn, startSegment, timeline: Number(timeline) };
}
