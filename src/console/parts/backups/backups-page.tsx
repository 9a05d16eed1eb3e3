// The page of the backups of an instance, also of a deleted one: their state, the instants, and the snapshots.
import { PilviError } from "../../../sdk/index.ts";
import { PageFrame } from "../layout.tsx";
import { ResourceFrame } from "../resource-detail.tsx";
import { useResource } from "../resources.ts";
import { Status } from "../status.tsx";
import type { BackedUpResource, BackupKind, BackupSource } from "./backup-kind.ts";
import { BackupStateSection } from "./backup-state.tsx";
import { CloneButton } from "./copy-dialog.tsx";
import { InstantSection } from "./instant-section.tsx";
import { useDeleted } from "./queries.ts";
import { RestoreNotice } from "./restore-progress.tsx";
import { SnapshotSection } from "./snapshots.tsx";

/** What a verified restore found is no event of the resource. */
const STATE_MS = 10_000;

export function BackupsPage<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  id: string;
}) {
  const { backups, id } = props;
  const { error } = useResource(backups.kind, id, STATE_MS);
  const archive = useDeleted(backups).find((each) => each.id === id);
  const isGone = error instanceof PilviError && error.status === 404;
  if (isGone && archive !== undefined) {
    return <DeletedPage backups={backups} source={{ id, name: archive.attributes.name }} />;
  }
  return (
    <ResourceFrame
      kind={backups.kind}
      id={id}
      actions={(resource) => <CloneButton backups={backups} resource={resource} />}
    >
      {(resource) => <Sections backups={backups} resource={resource} />}
    </ResourceFrame>
  );
}

/** The statuses of an instance that has no data, or soon has none. */
const WITHOUT_DATA = new Set(["creating", "restoring", "restore_failed", "deleting"]);

function Sections<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  resource: Resource;
}) {
  const { backups, resource } = props;
  const { name, status } = resource.attributes;
  const source = { id: resource.id, name };
  return (
    <>
      <RestoreNotice backups={backups} resource={resource} />
      <BackupStateSection backups={backups} id={resource.id} resource={resource} />
      <InstantSection backups={backups} source={source} />
      <SnapshotSection backups={backups} source={source} hasData={!WITHOUT_DATA.has(status)} />
    </>
  );
}

/** What is kept of an instance that is deleted. */
function DeletedPage<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  source: BackupSource;
}) {
  const { backups, source } = props;
  const { path, plural } = backups.kind;
  return (
    <PageFrame title={source.name} back={{ to: path, label: plural }} beside={<Status status="deleted" />}>
      <BackupStateSection backups={backups} id={source.id} />
      <InstantSection backups={backups} source={source} />
      <SnapshotSection backups={backups} source={source} hasData={false} />
    </PageFrame>
  );
}
