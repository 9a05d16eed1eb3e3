// What each resource used in a month, or on a day of it.
import { Link } from "@tanstack/react-router";
import type { UsageAmounts, UsageResource } from "../../../sdk/index.ts";
import { bytesText } from "../../parts/sizes.ts";
import { kinds } from "../../kinds.ts";
import { countText, gigabyteHoursText, hoursText, savedPercent, storageText } from "./figures.ts";

const MEBIBYTE = 1_024 ** 2;
const COMPUTE_UNIT_MIB = 4_096;
const CELL = "border-b border-line py-2 pl-4 text-right whitespace-nowrap tabular-nums";
const HEADS = ["Size", "Awake", "Memory", "Saved", "Disk", "Clients"] as const;

export function ResourceTable(props: {
  usages: readonly UsageResource[];
  /** Undefined for the whole month. */
  day: string | undefined;
  chosen: string | undefined;
  /** Undefined for all resources. */
  onChoose: (id: string | undefined) => void;
}) {
  const { usages, day, chosen, onChoose } = props;
  const rows = usages
    .map((usage) => ({ usage, amounts: amountsOf(usage, day) }))
    .toSorted((one, other) => weightOf(other.amounts) - weightOf(one.amounts));
  const hasMessages = usages.some(({ attributes }) => attributes.totals.messages_sent !== null);
  return (
    // It scrolls by itself on narrow screens, so the keyboard must reach it.
    <div role="region" aria-label="Usage by resource" tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr>
            <th scope="col" className="border-b border-line py-1.5 text-left text-xs font-normal text-soft">
              Resource
            </th>
            {HEADS.map((head) => (
              <th key={head} scope="col" className={`${CELL} text-xs font-normal text-soft`}>
                {head}
              </th>
            ))}
            {hasMessages && (
              <th scope="col" className={`${CELL} text-xs font-normal text-soft`}>
                Messages
              </th>
            )}
            <th scope="col" className="border-b border-line">
              <span className="sr-only">Days</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ usage, amounts }) => (
            <ResourceRow
              key={usage.id}
              {...{ usage, amounts, hasMessages }}
              isChosen={usage.id === chosen}
              onChoose={() => onChoose(usage.id === chosen ? undefined : usage.id)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ResourceRow(props: {
  usage: UsageResource;
  amounts: UsageAmounts | undefined;
  /** Whether the table has messages at all. */
  hasMessages: boolean;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const { usage, amounts, hasMessages, isChosen, onChoose } = props;
  const { name, kind: kindName, deleted_at: deletedAt, memory_mib: memoryMib } = usage.attributes;
  const kind = kinds.find((each) => each.name === kindName);
  const percent = amounts && savedPercent(amounts);
  return (
    <tr>
      <th scope="row" className="border-b border-line py-2 text-left font-normal">
        {kind === undefined || deletedAt !== null ? (
          <span className="font-medium">{name}</span>
        ) : (
          <Link to={`${kind.path}/${usage.id}`} className="font-medium text-ink no-underline hover:underline">
            {name}
          </Link>
        )}
        <span className="block text-xs text-soft">
          {kind?.noun ?? kindName}
          {deletedAt !== null && ", deleted"}
        </span>
      </th>
      <td className={CELL}>{sizeText(usage)}</td>
      <td className={CELL}>{hoursText(amounts?.awake_ms ?? 0)}</td>
      <td className={CELL}>{memoryMib === 0 ? "–" : gigabyteHoursText(amounts?.awake_mib_seconds ?? 0)}</td>
      <td className={CELL}>{percent === undefined ? "–" : `${percent} %`}</td>
      <td className={CELL}>{storageText(amounts?.storage_byte_hours ?? 0)}</td>
      <td className={CELL}>{countText(amounts?.max_connections ?? 0)}</td>
      {hasMessages && <td className={CELL}>{messagesText(amounts)}</td>}
      <td className={CELL}>
        <button
          type="button"
          aria-pressed={isChosen}
          aria-label={isChosen ? "All resources" : `Days of ${name}`}
          onClick={onChoose}
          className="link min-h-6"
        >
          {isChosen ? "All" : "Days"}
        </button>
      </td>
    </tr>
  );
}

function amountsOf(
  { attributes: { totals, days } }: UsageResource,
  day: string | undefined,
): UsageAmounts | undefined {
  return day === undefined ? totals : days.find((each) => each.day === day);
}

/** What most was used comes first. */
function weightOf(amounts: UsageAmounts | undefined): number {
  return amounts?.awake_mib_seconds ?? 0;
}

function messagesText(amounts: UsageAmounts | undefined): string {
  if (amounts === undefined || amounts.messages_sent === null) return "–";
  return countText(amounts.messages_sent + (amounts.messages_received ?? 0));
}

function sizeText({ attributes: { memory_mib: mebibytes, totals } }: UsageResource): string {
  if (mebibytes === 0) return "–";
  return totals.compute_unit_seconds === null
    ? bytesText(mebibytes * MEBIBYTE)
    : `${mebibytes / COMPUTE_UNIT_MIB} CU`;
}
