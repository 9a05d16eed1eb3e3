// What happened to an instance around an instant: its events, those of its parts, and its snapshots.
import { useQuery } from "@tanstack/react-query";
import type { EventResource, EventType } from "../../../sdk/index.ts";
import { client } from "../client.ts";
import { historyKey } from "../live.ts";
import type { BackedUpResource, BackupKind, SnapshotResource } from "./backup-kind.ts";
import { isoOf, type Micros, microsOf, type Stretch } from "./instants.ts";
import { useSnapshots } from "./queries.ts";

/** Something that happened, as the line of time and the list show it. */
export interface Happening {
  id: string;
  at: Micros;
  /** The type of the event, which gives its colour. */
  type: string;
  text: string;
}

/** All but those that accompany each sleep and wake. */
const TYPES = [
  "created",
  "changed",
  "available",
  "unavailable",
  "restored",
  "deleting",
  "asleep",
  "awake",
  "crashed",
  "restarted",
  "failed",
  "out_of_memory",
  "disk_full",
] as const satisfies readonly EventType[];

/** Those of a part of an instance, such as a database of a cluster. */
const PART_TYPES = ["created", "deleting"] as const satisfies readonly EventType[];

const MOST = 100;

/** The events of a stretch are read up to its end, rounded so that a stretch that moves a little stays the same. */
const ROUNDED_SHARE = 8;

/** What happened in a stretch, the newest first; `isWhole` is false when there was more. */
export function useHappenings<Resource extends BackedUpResource>(
  backups: BackupKind<Resource>,
  id: string,
  view: Stretch,
): { happenings: readonly Happening[]; isWhole: boolean } {
  const grain = Math.max(1_000_000, Math.round((view.until - view.from) / ROUNDED_SHARE));
  const since = Math.floor(view.from / grain) * grain;
  const until = (Math.ceil(view.until / grain) + 1) * grain;
  const { partType } = backups;
  const events = useQuery({
    queryKey: [...historyKey(id), partType, since, until],
    queryFn: async () => await readEvents({ id, partType, since, until }),
    placeholderData: (former) => former,
  });
  const snapshots = useSnapshots(backups, id).data ?? [];
  const found = [...(events.data?.found.map(happeningOf) ?? []), ...snapshots.flatMap(happeningOfSnapshot)];
  const happenings = found
    .filter(({ at }) => at >= view.from && at <= view.until)
    .toSorted((one, other) => other.at - one.at);
  return { happenings, isWhole: events.data?.isWhole ?? true };
}

async function readEvents(wanted: {
  id: string;
  partType: BackupKind["partType"];
  since: Micros;
  until: Micros;
}): Promise<{ found: EventResource[]; isWhole: boolean }> {
  const { id, partType } = wanted;
  const stretch = { since: isoOf(wanted.since), until: isoOf(wanted.until) };
  const [own, ofParts] = await Promise.all([
    client.events.list({ filter: { ...stretch, resource: [id], type: TYPES }, perPage: MOST }),
    partType === null
      ? undefined
      : client.events.list({
          filter: { ...stretch, resourceType: [partType], type: PART_TYPES },
          perPage: MOST,
        }),
  ]);
  // Parts of other instances have events of the same type.
  const parts = ofParts?.data.filter(({ attributes: { details } }) => details.database === id) ?? [];
  const isWhole = own.meta.next_cursor === null && (ofParts?.meta.next_cursor ?? null) === null;
  return { found: [...own.data, ...parts], isWhole };
}

function happeningOf({ id, attributes: { type, occurred_at: at, message } }: EventResource): Happening {
  return { id, at: microsOf(at), type, text: message };
}

function happeningOfSnapshot({ id, attributes }: SnapshotResource): Happening[] {
  const { completed_at: at, name } = attributes;
  const text = name === null ? "A scheduled snapshot was made." : `The snapshot ${name} was made.`;
  return at === null ? [] : [{ id, at: microsOf(at), type: "created", text }];
}

/** How many are shown on each side of the chosen instant. */
const NEAR = 4;

/** The happenings next to an instant: those after it and those up to it, the newest first. */
export function around(
  happenings: readonly Happening[],
  at: Micros,
): { after: readonly Happening[]; before: readonly Happening[] } {
  const split = happenings.findIndex((each) => each.at <= at);
  const end = split === -1 ? happenings.length : split;
  return { after: happenings.slice(Math.max(0, end - NEAR), end), before: happenings.slice(end, end + NEAR) };
}
