// Declares the operations of snapshots: those of database clusters and those of caches differ in words and paths alone.
import type { z } from "zod";
import { API_ROOT } from "../../../api/operation/address.ts";
import type { Principal } from "../../../api/auth/auth.ts";
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import type { InstanceSearch } from "../desired-state.ts";
import type { RoutedResource } from "../routed-resource.ts";
import { Routes } from "../routes.ts";
import { newSnapshot, snapshotParams, type SnapshotAttributes } from "../snapshot-schema.ts";
import { findArchive, type ArchiveRow, type ArchiveSource, type BackedUpKind } from "./archives.ts";
import { createSnapshot, deleteSnapshot } from "./create-snapshot.ts";
import type { CopiedInstance } from "./origin.ts";
import { DAY_MS, type BackupPolicy } from "./policy.ts";
import { findSnapshot, listSnapshots, snapshotStatuses, type SnapshotRow } from "./snapshots.ts";

type IdParams = z.ZodObject<{ id: z.ZodString }>;

/** What differs between the kinds. */
export interface SnapshotKind<Row, Params extends IdParams> {
  kind: BackedUpKind;
  tag: string;
  /** The noun of operation ids, such as `DatabaseSnapshot`. */
  idNoun: string;
  /** The noun of the instance, with its article, such as `a database cluster`. */
  instance: string;
  search: InstanceSearch<Row>;
  /** The path of an instance, such as `/caches/:id`. */
  path: string;
  params: Params;
  /** The path of the snapshots, such as `/cache-snapshots`. */
  snapshotsPath: string;
  schema: z.ZodType;
  /** The relationship to the instance, and the schema of the instance. */
  relationship: string;
  relatedSchema: z.ZodType;
  /** The order of an instance, as its archive keeps it. */
  sourceOf(row: Row): ArchiveSource;
  policyOf(source: ArchiveSource): BackupPolicy | null;
  render(row: Row, principal: Principal): object;
  /** The resource object: the members of every kind, and the relationship. */
  resourceOf(common: SnapshotCommon, instance: string | null): object;
}

interface SnapshotCommon {
  id: string;
  attributes: SnapshotAttributes;
  links: { self: { href: string } };
  meta: { last_error: string | null; source: { id: string; name: string; type: string } };
}

type AnySnapshotRoutes<Params extends IdParams> = Routes<SnapshotRow, Params, typeof snapshotParams>;

/** All operations of the snapshots of a kind. */
export function snapshotOperations<
  Row extends { id: string; hostId: string } & CopiedInstance,
  Params extends IdParams,
>(context: KindContext, given: SnapshotKind<Row, Params>): Operation[] {
  const resource = snapshotRouting(context, given);
  const routes: AnySnapshotRoutes<Params> = new Routes(resource);
  return [
    routes.create({
      description: `Answers at once with the status \`pending\`. The data is that of the moment at which the snapshot is made; ${given.instance} that sleeps is not woken.`,
      successText: "The snapshot, which is being made.",
      body: newSnapshot,
      create: (request) => createSnapshot(context, given, request),
    }),
    routes.list({
      description: `The snapshots of ${given.instance} in pages, the oldest first, also after its deletion.`,
      async list({ organizationId, page }, { id }) {
        await requireInstance(context, given, organizationId, String(id));
        return await listSnapshots(context.db, String(id), page);
      },
    }),
    routes.show({
      description: "One snapshot, at once or, with `wait`, when the snapshot has reached a status.",
    }),
    routes.delete({
      description:
        "Answers at once. A snapshot that is being made is given up. Scheduled snapshots are deleted by the schedule while the log is kept, and answer 422 until then.",
      canRefuse: true,
      delete: (request) => deleteSnapshot(context, given, request),
    }),
  ];
}

/** @throws ApiError 404 when the organization has neither such an instance nor backups of it. */
async function requireInstance<Row, Params extends IdParams>(
  { db }: KindContext,
  { search, kind }: SnapshotKind<Row, Params>,
  organizationId: string,
  id: string,
): Promise<ArchiveRow | undefined> {
  const archive = await findArchive(db, organizationId, id);
  if (archive !== undefined && archive.kind === kind) return archive;
  const row = await db.begin(async (tx) => await search.find(tx, organizationId, id));
  if (row === undefined) throw notFound(search.noun);
  return undefined;
}

/** What the operations of a kind's snapshots share. */
export function snapshotRouting<Row extends { id: string }, Params extends IdParams>(
  { db }: KindContext,
  given: SnapshotKind<Row, Params>,
): RoutedResource<SnapshotRow, Params, typeof snapshotParams> {
  const { kind, tag, idNoun, instance, search, path, params, snapshotsPath } = given;
  return {
    tag,
    kind,
    idNoun,
    noun: "snapshot",
    shortNoun: "snapshot",
    phrases: { one: `a snapshot of ${instance}`, many: `the snapshots of ${instance}` },
    collection: { path: `${path}/snapshots`, params },
    item: { path: `${snapshotsPath}/:id`, params: snapshotParams, idOf: ({ id }) => id },
    schema: given.schema,
    relatedSchema: given.relatedSchema,
    includes: [given.relationship],
    statuses: snapshotStatuses,
    find: (organizationId, { id }) => findSnapshot(db, organizationId, kind, id),
    render: (row) => renderSnapshot(row, given),
    async related(_wanted, rows, { principal }) {
      const ids = [...new Set(rows.map(({ archiveId }) => archiveId))];
      const found = await db.begin((tx) =>
        Promise.all(ids.map((id) => search.find(tx, principal.organizationId, id))),
      );
      return found.flatMap((row) => (row === undefined ? [] : [given.render(row, principal)]));
    },
  };
}

function renderSnapshot<Row, Params extends IdParams>(
  row: SnapshotRow,
  given: SnapshotKind<Row, Params>,
): object {
  const { id, archiveId, source, isAlive, completedAt } = row;
  const policy = given.policyOf(source);
  const isEnabled = policy?.keepsLog === true && isAlive && row.status === "available";
  const endsMs = Date.parse(completedAt ?? "") + (policy?.retentionDays ?? 0) * DAY_MS;
  const common: SnapshotCommon = {
    id,
    attributes: {
      name: row.name,
      description: row.description,
      type: row.type,
      status: row.status,
      storage_bytes: row.storageBytes,
      pitr_enabled: isEnabled,
      pitr_ends_at: isEnabled ? new Date(endsMs).toISOString() : null,
      completed_at: completedAt,
      created_at: row.createdAt,
    },
    links: { self: { href: `${API_ROOT}${given.snapshotsPath}/${id}` } },
    meta: { last_error: row.lastError, source: { id: archiveId, name: source.name, type: source.type } },
  };
  return given.resourceOf(common, isAlive ? archiveId : null);
}
