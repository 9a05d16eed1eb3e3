// The month in a few figures, and what sleeping saved in a sentence.
import type { UsageAmounts } from "../../../sdk/index.ts";
import { countText, gigabyteHoursText, hoursText, savedPercent, storageText, timesText } from "./figures.ts";

interface Tile {
  name: string;
  value: string;
  note?: string;
}

export function Totals({ totals }: { totals: UsageAmounts }) {
  return (
    <>
      <dl className="m-0 mb-4 grid grid-cols-2 gap-x-6 gap-y-4 rounded-lg border border-line bg-panel p-4 sm:grid-cols-3 lg:grid-cols-4">
        {tilesOf(totals).map(({ name, value, note }) => (
          <div key={name}>
            <dt className="text-xs text-soft">{name}</dt>
            <dd className="m-0 text-lg font-semibold tabular-nums">{value}</dd>
            {note !== undefined && <dd className="m-0 text-xs text-soft">{note}</dd>}
          </div>
        ))}
      </dl>
      <Notes totals={totals} />
    </>
  );
}

function tilesOf(totals: UsageAmounts): Tile[] {
  const percent = savedPercent(totals);
  const tiles: Tile[] = [
    { name: "Time awake", value: hoursText(totals.awake_ms), note: "of all resources together" },
    { name: "Memory", value: gigabyteHoursText(totals.awake_mib_seconds), note: "size times time awake" },
    {
      name: "Saved by sleeping",
      value: gigabyteHoursText(totals.saved_mib_seconds),
      ...(percent !== undefined && { note: `${percent} % of always being awake` }),
    },
    { name: "Disk", value: storageText(totals.storage_byte_hours), note: "awake and asleep" },
    {
      name: "Clients",
      value: countText(totals.max_connections),
      note: "what each resource had at most, on the highest day",
    },
  ];
  if (totals.messages_sent === null) return tiles;
  return [
    ...tiles,
    { name: "Messages received", value: countText(totals.messages_received ?? 0) },
    { name: "Messages sent", value: countText(totals.messages_sent) },
  ];
}

function Notes({ totals }: { totals: UsageAmounts }) {
  const times = timesText(totals);
  return (
    <div className="mb-6 flex flex-col gap-1 text-sm text-soft">
      {times !== undefined && (
        <p className="m-0 text-base text-ink">
          Without sleep the month would have taken {times} times the memory.
        </p>
      )}
      <p className="m-0">A GB-hour is a gigabyte for an hour. Days and months are those of UTC.</p>
      {totals.uncertain_ms > 0 && (
        <p className="m-0">
          Up to {hoursText(totals.uncertain_ms)} awake may be missing, since engines ended while their host
          was away.
        </p>
      )}
      {!totals.is_complete && (
        <p className="m-0 text-ink">Events of this month are missing, so the figures may be too low.</p>
      )}
    </div>
  );
}
