// `pilvi backups`: everything that has backups, with what of it can be restored.
import type { Command } from "commander";
import type { ArchiveResource, StoreBackups } from "../../sdk/index.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { bytesText } from "../shared/details.ts";
import { table } from "../table.ts";

const MAX_NAME = 14;

/** What Pilvi's own store is called beside the names of resources. */
const STORE_NAME = "Pilvi's store";

/** What a line shows. */
type Shown = Omit<ArchiveResource["attributes"], "kind" | "snapshots">;

/** The units of an age, each with its seconds and the number up to which it is used. */
const AGES = [
  { unit: "s", seconds: 1, most: 120 },
  { unit: "min", seconds: 60, most: 120 },
  { unit: "h", seconds: 3_600, most: 48 },
  { unit: "d", seconds: 86_400, most: Infinity },
] as const;

/** Adds the command. */
export function addBackups(program: Command, session: Session): void {
  const command = program
    .command("backups")
    .description(
      "show what has backups: since when, how far behind, how large, the last, and when it was restored for a check",
    );
  withJson(command).action(async ({ json }: { json?: true }) => {
    const client = await session.client();
    const found = await Array.fromAsync(client.backups.all());
    const store = await client.backups.store();
    session.io.out(json === true ? jsonText({ data: found, store }) : backupsText(found, store));
  });
  withExamples(command, ["pilvi backups", "pilvi backups --json | jq -r '.data[].id'"]);
}

/** A table of 80 columns. */
function backupsText(archives: readonly ArchiveResource[], store: StoreBackups): string {
  const own = store === null ? [] : [{ ...store, name: STORE_NAME, deleted_at: null }];
  const shown: Shown[] = [...archives.map(({ attributes }) => attributes), ...own];
  if (shown.length === 0)
    return "There are no backups. Make one with: pilvi databases snapshots create NAME before-change\n";
  const lines = table([
    ["NAME", "WINDOW SINCE", "LAG", "SIZE", "LAST", "VERIFIED", "RESTORE"],
    ...shown.map(rowOf),
  ]);
  const errors = shown.flatMap(({ name, last_error: error }) =>
    error === null ? [] : [`${name}: ${error}\n`],
  );
  const isDeleted = archives.some(({ attributes }) => attributes.deleted_at !== null);
  return [
    lines,
    ...(isDeleted ? ["A name with * belongs to a resource that is deleted.\n"] : []),
    ...errors,
  ].join("");
}

function rowOf(attributes: Shown): string[] {
  const { name, deleted_at: deletedAt, window, lag_seconds: lag, stored_bytes: bytes } = attributes;
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
  return [
    deletedAt === null ? short : `${short}*`,
    minuteOf(window?.earliest),
    lag === null ? "-" : `${Math.round(lag)} s`,
    bytesText(bytes),
    ageOf(attributes.last_backup_at),
    ageOf(attributes.verified_at),
    secondsText(attributes.verified_restore_seconds),
  ];
}

/** How long ago a moment was, such as `3 h`. */
function ageOf(moment: string | null): string {
  if (moment === null) return "-";
  const seconds = Math.max(0, (Date.now() - Date.parse(moment)) / 1_000);
  const age = AGES.find((each) => seconds < each.most * each.seconds) ?? AGES[3];
  return `${Math.floor(seconds / age.seconds)} ${age.unit} ago`;
}

function secondsText(seconds: number | null): string {
  return seconds === null ? "-" : `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}

/** A time in UTC, to the minute. */
function minuteOf(moment: string | undefined): string {
  return moment === undefined ? "-" : moment.slice(0, 16).replace("T", " ");
}
