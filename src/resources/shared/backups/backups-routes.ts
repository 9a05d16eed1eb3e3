// `GET …/backups` of an instance and `DELETE …/backups` of a deleted one, and `GET /backups` of the organization.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { can } from "../../../api/auth/auth.ts";
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { JSON_API } from "../../../api/jsonapi/jsonapi.ts";
import { pageDocument, pageOf, pageQuery } from "../../../api/jsonapi/pagination.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { ArchiveState } from "../../../contracts/keeper.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { isDefaultOrganization } from "../../../api/auth/tokens.ts";
import { STORE_ID } from "../../../contracts/store-id.ts";
import {
  archivesDocument,
  backupsDocument,
  storeBackupsDocument,
  type ArchiveResource,
} from "../backup-schema.ts";
import { findArchive, listArchives, type ArchiveRow, type BackedUpKind } from "./archives.ts";
import { purgeArchive } from "./purge.ts";
import { renderBackups, renderSummary } from "./render.ts";

/** How long a reader waits for a driver that does not answer. */
const CURRENT_STATE_TIMEOUT_MS = 2_000;

/** What differs between the kinds. */
interface BackupsRoute {
  kind: BackedUpKind;
  tag: string;
  /** The path of an instance, such as `/caches/:id`. */
  path: string;
  params: z.ZodObject<{ id: z.ZodString }>;
  /** The noun of operation ids, such as `DatabaseCluster`. */
  idNoun: string;
  /** Such as `database cluster`. */
  noun: string;
  /** Whether the organization has an instance with this id. */
  exists(organizationId: string, id: string): Promise<boolean>;
}

/** The operations on the backups of one instance. */
export function backupsOperations({ db, hosts }: KindContext, route: BackupsRoute): Operation[] {
  const { kind, tag, path, params, idNoun, noun, exists } = route;
  const show = operation<z.ZodObject, z.ZodObject, typeof params>({
    method: "GET",
    path: `${path}/backups`,
    operationId: `get${idNoun}Backups`,
    tag,
    summary: `Get the backups of a ${noun}`,
    description: `What can be restored of a ${noun}: the complete backups, and with a log each instant of a window. It answers also after the deletion, while backups are kept. Reading wakes nothing.`,
    ability: `${kind}:read`,
    params,
    success: { status: 200, description: "The backups.", schema: backupsDocument },
    async handle({ principal: { organizationId }, params: { id } }) {
      const archive = await findArchive(db, organizationId, id);
      if (archive === undefined && !(await exists(organizationId, id))) throw notFound(noun);
      const host = archive === undefined ? hosts.forNew() : hosts.of(archive.hostId);
      return { document: { data: renderBackups(id, host, await currentState(id, host)) } };
    },
  });
  const purge = operation<z.ZodObject, z.ZodObject, typeof params>({
    method: "DELETE",
    path: `${path}/backups`,
    operationId: `purge${idNoun}Backups`,
    tag,
    summary: `Delete all backups of a deleted ${noun}`,
    description: `Deletes what is kept of a ${noun} that is deleted, with all its snapshots; nothing of it can be restored from then on. A ${noun} that exists answers 409.`,
    ability: `${kind}:write`,
    params,
    canConflict: true,
    success: { status: 204, description: "The backups are being deleted." },
    async handle({ principal, requestId, params: { id } }) {
      await db.begin(async (tx) => {
        const archive = await findArchive(tx, principal.organizationId, id);
        if (archive === undefined || archive.kind !== kind) throw notFound(noun);
        if (archive.deletedAt === null) {
          throw new ApiError(409, `The ${noun} exists. Delete it first, or delete single snapshots.`);
        }
        await purgeArchive(tx, { principal, requestId }, archive);
      });
      return {};
    },
  });
  return [show, purge];
}

/** The archive as it is now; as it was reported last, when the driver does not answer soon. */
async function currentState(
  id: string,
  { driver, archiveStates }: Pick<ServedHost, "driver" | "archiveStates">,
): Promise<ArchiveState | undefined> {
  const now = driver.archive(id).then((state) => state ?? undefined);
  const reported = sleep(CURRENT_STATE_TIMEOUT_MS, undefined, { ref: false }).then(() =>
    archiveStates.of(id),
  );
  return await Promise.race([now, reported]).catch(() => archiveStates.of(id));
}

/** `GET /backups`. */
export function listBackupsOperation({ db, hosts }: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/backups",
    operationId: "listBackups",
    tag: "Backups",
    summary: "List backups",
    description:
      "Everything that has backups, of the kinds that the token may read: what can be restored, how far the backups lag behind, and what they take. Deleted resources are listed while their backups are kept.",
    ability: ["databases:read", "caches:read"],
    query: z.object(pageQuery),
    success: {
      status: 200,
      description: "A page of archives.",
      schema: archivesDocument,
      contentType: JSON_API,
    },
    async handle({ principal, url, query }) {
      const kinds = (["caches", "databases"] as const).filter((kind) => can(principal, `${kind}:read`));
      const page = pageOf(query);
      const place = { first: (page.number - 1) * page.size, size: page.size };
      const { rows, total } = await listArchives(db, principal.organizationId, kinds, place);
      return {
        document: pageDocument(
          url,
          page,
          total,
          rows.map((row) => renderArchive(row, hosts)),
        ),
      };
    },
  });
}

/** `GET /backups/store`. */
export function storeBackupsOperation({ db, hosts }: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/backups/store",
    operationId: "getStoreBackups",
    tag: "Backups",
    summary: "Get the backups of Pilvi's own store",
    description:
      "What can be restored of the database that Pilvi keeps its own data in, and when a restore was last verified. It is for the operator: other organizations get null, as with a store that Pilvi does not run itself.",
    ability: ["databases:read", "caches:read"],
    success: { status: 200, description: "The backups.", schema: storeBackupsDocument },
    async handle({ principal: { organizationId } }) {
      const host = hosts.forNew();
      const state = host.archiveStates.of(STORE_ID);
      const isShown = state !== undefined && (await isDefaultOrganization(db, organizationId));
      return { document: { data: isShown ? renderBackups(STORE_ID, host, state) : null } };
    },
  });
}

function renderArchive(row: ArchiveRow, hosts: KindContext["hosts"]): ArchiveResource {
  const { id, kind, source, deletedAt } = row;
  const host = hosts.of(row.hostId);
  const snapshots = host.archiveStates.of(id)?.backups.length ?? 0;
  const attributes = {
    kind,
    name: source.name,
    deleted_at: deletedAt,
    snapshots,
    ...renderSummary(id, host),
  };
  return { id, type: "archives", attributes };
}
