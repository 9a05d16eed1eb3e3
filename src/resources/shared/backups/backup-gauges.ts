// The Prometheus metrics of backups, read from memory: a scrape asks no host and wakes no instance.
import type { FigureFamily, FigureSource, LabelledFigure } from "../../../api/http/metrics.ts";
import type { ArchiveState } from "../../../contracts/keeper.ts";
import { STORE_ID } from "../../../contracts/store-id.ts";
import type { Database } from "../../../store/database.ts";
import type { KindContext, VerificationState } from "../../kind.ts";
import { kindOfId } from "../instance-kinds.ts";

const FAMILIES = {
  lag: family("lag_seconds", "Age of the oldest change that is not backed up.", true),
  bytes: family("stored_bytes", "What all backups of an instance take, compressed."),
  latest: family("latest_timestamp_seconds", "The moment that the newest backup is from.", true),
  failing: family("failing", "1 while backups cannot be stored."),
  verified: family("verified_timestamp_seconds", "When a restore was last verified without a fault.", true),
  restore: family("verified_restore_seconds", "How long that restore took.", true),
  faults: family("verification_faults", "Faults that the latest verified restore has found."),
} as const;

type FigureName = keyof typeof FAMILIES;

function family(name: string, help: string, isNeverSummed = false): FigureFamily {
  const labels = { labels: ["kind", "id"], idLabels: ["id"], isNeverSummed };
  return { name: `pilvi_backup_${name}`, help, type: "gauge", ...labels };
}

/** The gauges of all archives, that of the store as well, or of those of an organization. */
export const backupGauges: FigureSource<KindContext> = {
  families: Object.values(FAMILIES),
  async read({ db, hosts }, organizationId): Promise<LabelledFigure[]> {
    const all = hosts.all.flatMap(({ archiveStates }) =>
      [...archiveStates.all()].map((state) => ({ state, verified: archiveStates.verificationOf(state.id) })),
    );
    const own = await ownArchives(
      db,
      organizationId,
      all.map(({ state }) => state.id),
    );
    const isShown = (id: string) => own.has(id) || (id === STORE_ID && organizationId === undefined);
    return all.filter(({ state }) => isShown(state.id)).flatMap((each) => figuresOf(each));
  },
};

/** The archives of resources, of an organization or of all. */
async function ownArchives(
  db: Database,
  organizationId: string | undefined,
  ids: string[],
): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`
    select id from archives
    where id = any(${db.array(ids, "text")}) and deleted_at is null
      and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})`;
  return new Set(rows.map(({ id }) => id));
}

function figuresOf({ state, verified }: { state: ArchiveState; verified: VerificationState }) {
  const { id, log, backups, storedBytes, lastError } = state;
  const { latest, sound } = verified;
  const kind = id === STORE_ID ? id : (kindOfId(id) ?? "");
  const values: Record<FigureName, number | null> = {
    lag: log?.lagSeconds ?? null,
    bytes: storedBytes,
    latest: secondsOf(backups.at(-1)?.completedAt),
    failing: lastError === null ? 0 : 1,
    verified: secondsOf(sound?.endedAt),
    restore: sound?.restoreSeconds ?? null,
    faults: latest?.faults.length ?? null,
  };
  return (Object.keys(FAMILIES) as FigureName[]).flatMap((figure) => {
    const value = values[figure];
    return value === null ? [] : [{ name: FAMILIES[figure].name, labels: { kind, id }, value }];
  });
}

function secondsOf(moment: string | undefined): number | null {
  return moment === undefined ? null : Date.parse(moment) / 1_000;
}
