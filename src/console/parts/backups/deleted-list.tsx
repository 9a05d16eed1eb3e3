// Deleted instances whose backups are kept: brought back in their latest state, or given up for good.
import { Link } from "@tanstack/react-router";
import type { ArchiveResource } from "../../../sdk/index.ts";
import { Section } from "../layout.tsx";
import { ARCHIVES_KEY } from "../live.ts";
import { RemoveButton } from "../remove-button.tsx";
import { useCan } from "../session.ts";
import { bytesText } from "../sizes.ts";
import { Ago, Moment } from "../time.tsx";
import type { BackedUpResource, BackupKind, RestoreTarget } from "./backup-kind.ts";
import { CopyButton } from "./copy-dialog.tsx";
import { useDeleted } from "./queries.ts";

/** Nothing while there is nothing to bring back. */
export function DeletedList<Resource extends BackedUpResource>({
  backups,
}: {
  backups: BackupKind<Resource>;
}) {
  const deleted = useDeleted(backups);
  if (deleted.length === 0) return null;
  return (
    <div className="mt-10">
      <Section
        title="Deleted, with backups"
        note={`What was kept of a deleted ${backups.kind.noun} can be brought back.`}
      >
        <ul aria-label="Deleted" className="m-0 list-none p-0">
          {deleted.map((archive) => (
            <Line key={archive.id} backups={backups} archive={archive} />
          ))}
        </ul>
      </Section>
    </div>
  );
}

/** The moment of the latest state that is kept. */
function latestOf({ window, last_backup_at: last }: ArchiveResource["attributes"]): string | null {
  return window?.latest ?? last;
}

function Line<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  archive: ArchiveResource;
}) {
  const { backups, archive } = props;
  const { id, attributes } = archive;
  const { name, deleted_at: deletedAt, stored_bytes: bytes } = attributes;
  const latest = latestOf(attributes);
  const canWrite = useCan(`${backups.kind.name}:write`);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-2">
      <div className="min-w-0 grow basis-64">
        <Link
          to={`${backups.kind.path}/${id}/backups`}
          className="font-medium break-all text-ink no-underline hover:underline"
        >
          {name}
        </Link>
        <p className="m-0 text-xs text-soft">
          {deletedAt !== null && (
            <>
              deleted <Ago at={deletedAt} />
            </>
          )}
          {` · ${bytesText(bytes)}`}
          {latest !== null && (
            <>
              {" · data of "}
              <Moment at={latest} />
            </>
          )}
        </p>
      </div>
      {canWrite && (
        <div className="flex gap-1">
          <CopyButton
            backups={backups}
            label="Bring back"
            of={name}
            title={`Bring ${name} back`}
            text={`A new ${backups.kind.noun} gets the latest data that was kept, and its own address and password.`}
            firstName={name}
            begin={async (given) => await backups.restore(id, given, await latestTarget(backups, archive))}
          />
          <RemoveButton
            label={`the backups of ${name}`}
            verb="Delete"
            question={`Nothing of ${name} can be restored from then on, and its snapshots go as well.`}
            name={name}
            queryKey={ARCHIVES_KEY}
            remove={() => backups.purge(id)}
          />
        </div>
      )}
    </li>
  );
}

async function latestTarget<Resource extends BackedUpResource>(
  { readBackups, untilDeleted, kind }: BackupKind<Resource>,
  { id }: ArchiveResource,
): Promise<RestoreTarget> {
  // A deletion stores the last of the log before it ends.
  await untilDeleted(id);
  const { window, backups } = await readBackups(id);
  if (window !== null) return { at: window.latest };
  const newest = backups.at(-1);
  if (newest === undefined) throw new Error(`No backup of this ${kind.noun} is kept any more.`);
  return { snapshot: newest.id };
}
