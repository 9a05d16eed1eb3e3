// A snapshot in the list: its state, what it can reach, its restore and its deletion.
import { useCan } from "../session.ts";
import { RemoveButton } from "../remove-button.tsx";
import { bytesText } from "../sizes.ts";
import { Status } from "../status.tsx";
import { Ago, Moment } from "../time.tsx";
import type { BackedUpResource, BackupKind, BackupSource, SnapshotResource } from "./backup-kind.ts";
import { CopyButton, copyName, SOURCE_STAYS } from "./copy-dialog.tsx";
import { snapshotsKey } from "./queries.ts";

interface LineProps<Resource extends BackedUpResource> {
  backups: BackupKind<Resource>;
  source: BackupSource;
  snapshot: SnapshotResource;
}

export function SnapshotLine<Resource extends BackedUpResource>(props: LineProps<Resource>) {
  const { backups, snapshot } = props;
  const { name, description, type, status, storage_bytes: bytes } = snapshot.attributes;
  const canWrite = useCan(`${backups.kind.name}:write`);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-2">
      <div className="min-w-0 grow basis-64">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <span className="font-medium break-all">{name ?? "Scheduled snapshot"}</span>
          <Status status={status} />
        </div>
        <p className="m-0 text-xs break-words text-soft">
          {type === "scheduled" ? "scheduled" : "manual"}
          {bytes !== null && ` · ${bytesText(bytes)}`}
          <Reach snapshot={snapshot} />
        </p>
        {description !== null && <p className="m-0 text-sm break-words text-soft">{description}</p>}
        {snapshot.meta.last_error !== null && (
          <p className="m-0 text-sm break-words text-bad">{snapshot.meta.last_error}</p>
        )}
      </div>
      {canWrite && status !== "deleting" && <LineActions {...props} />}
    </li>
  );
}

/** The moment of its data, and until when later instants can be reached from it. */
function Reach({ snapshot }: { snapshot: SnapshotResource }) {
  const {
    completed_at: at,
    pitr_enabled: isBase,
    pitr_ends_at: until,
    created_at: created,
  } = snapshot.attributes;
  if (at === null) {
    return (
      created !== null && (
        <>
          {" · asked for "}
          <Ago at={created} />
        </>
      )
    );
  }
  return (
    <>
      {" · data of "}
      <Moment at={at} />
      {isBase === true && until !== null && (
        <>
          {" and each instant after it, until "}
          <Moment at={until} />
        </>
      )}
    </>
  );
}

function LineActions<Resource extends BackedUpResource>({ backups, source, snapshot }: LineProps<Resource>) {
  const { name, status, type, completed_at: at } = snapshot.attributes;
  const label = name ?? `the scheduled snapshot of ${at ?? "today"}`;
  const isMade = status === "available" || status === "failed";
  return (
    <div className="flex gap-1">
      {status === "available" && (
        <CopyButton
          backups={backups}
          label="Restore"
          of={label}
          title={`Restore ${name ?? "the scheduled snapshot"}`}
          text={`A new ${backups.kind.noun} gets the data of this snapshot, and its own address and password. ${SOURCE_STAYS}`}
          firstName={copyName(source.name, "restored")}
          begin={(given) => backups.restore(source.id, given, { snapshot: snapshot.id })}
        />
      )}
      {(type === "manual" || snapshot.attributes.pitr_enabled !== true) && (
        <RemoveButton
          label={label}
          verb={isMade ? "Delete" : "Give up"}
          question={isMade ? "What it keeps cannot be restored any more." : "It is not made any further."}
          queryKey={snapshotsKey(backups, source.id)}
          remove={() => backups.deleteSnapshot(snapshot.id)}
        />
      )}
    </div>
  );
}
