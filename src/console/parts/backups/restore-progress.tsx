// What the page of a restored instance says: how far the restore is, how to cancel it, and why it failed.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../button.tsx";
import { Confirm } from "../dialog.tsx";
import { refreshResource, useResource } from "../resources.ts";
import { useCan } from "../session.ts";
import { bytesText } from "../sizes.ts";
import { Moment } from "../time.tsx";
import { notify } from "../toasts.tsx";
import { durationText } from "../wake-list.ts";
import type { BackedUpResource, BackupKind } from "./backup-kind.ts";

/** The bytes of a restore are no events. */
const PROGRESS_MS = 1_000;

interface ProgressProps<Resource extends BackedUpResource> {
  backups: BackupKind<Resource>;
  resource: Resource;
}

/** Nothing for an instance that is not being restored, and whose restore has not failed. */
export function RestoreNotice<Resource extends BackedUpResource>(props: ProgressProps<Resource>) {
  const { status } = props.resource.attributes;
  if (status === "restoring") return <Restoring {...props} />;
  return status === "restore_failed" ? <Failed {...props} /> : null;
}

function Restoring<Resource extends BackedUpResource>({ backups, resource }: ProgressProps<Resource>) {
  useResource(backups.kind, resource.id, PROGRESS_MS);
  const canWrite = useCan(`${backups.kind.name}:write`);
  return (
    <section aria-label="Restore" className="mb-8 rounded-lg border border-line bg-panel p-4">
      <p className="m-0 mb-3">
        {resource.meta.origin && <Origin backups={backups} origin={resource.meta.origin} />}
      </p>
      <Progress progress={resource.meta.restore} />
      {canWrite && <Cancel backups={backups} resource={resource} />}
    </section>
  );
}

function Progress({ progress }: { progress: BackedUpResource["meta"]["restore"] }) {
  const total = progress?.total_bytes ?? 0;
  const done = Math.min(progress?.done_bytes ?? 0, total);
  const share = total === 0 ? null : done / total;
  const rest = progress?.estimate_seconds ?? null;
  return (
    <>
      <div
        role="progressbar"
        aria-label="Restored"
        aria-valuemin={0}
        aria-valuemax={100}
        {...(share !== null && { "aria-valuenow": Math.floor(share * 100) })}
        aria-valuetext={share === null ? "Being prepared" : `${bytesText(done)} of ${bytesText(total)}`}
        className="h-2 overflow-hidden rounded-full bg-hover"
      >
        <div
          className={`h-full rounded-full bg-accent ${share === null ? "pulse" : ""}`}
          style={{ width: `${(share ?? 1) * 100}%` }}
        />
      </div>
      <p className="mt-2 mb-0 text-sm text-soft">
        {share === null ? "Being prepared." : `${bytesText(done)} of ${bytesText(total)}.`}
        {rest !== null && rest > 0 && ` About ${durationText(rest * 1000)} more.`}
        {share === 1 && " The engine is being started with the data."}
      </p>
    </>
  );
}

/** Where the data is from. */
function Origin<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  origin: NonNullable<BackedUpResource["meta"]["origin"]>;
}) {
  const { snapshot, restore_time: at } = props.origin;
  const isClone = snapshot === null && at === null;
  return (
    <>
      {isClone
        ? "The data of "
        : `The data is restored from ${snapshot === null ? "the log" : "a snapshot"} of `}
      <SourceLink {...props} />
      {isClone && " as it is now is copied"}
      {at !== null && (
        <>
          , as it was at <Moment at={at} />
        </>
      )}
      . {"Nothing changes there."}
    </>
  );
}

/** The source by its name; a source that is deleted has none. */
function SourceLink<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  origin: { source: string };
}) {
  const { kind } = props.backups;
  const { source: id } = props.origin;
  const source = useResource(kind, id);
  if (source.data === undefined) return source.error === null ? "its source" : `a deleted ${kind.noun}`;
  return (
    <Link to={`${kind.path}/${id}/backups`} className="link">
      {source.data.attributes.name}
    </Link>
  );
}

function Cancel<Resource extends BackedUpResource>({ backups, resource }: ProgressProps<Resource>) {
  const { kind, remove } = backups;
  const [isOpen, setOpen] = useState(false);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const cancelling = useMutation({
    mutationFn: () => remove(resource.id),
    onSuccess: async () => {
      await navigate({ to: kind.path });
      notify({ title: `The restore of ${resource.attributes.name} is cancelled.` });
      await refreshResource(cache, kind, resource.id);
    },
  });
  return (
    <div className="mt-3">
      <Button onClick={() => setOpen(true)}>Cancel the restore</Button>
      <Confirm
        title="Cancel the restore?"
        text={`The new ${kind.noun} ${resource.attributes.name} is deleted. Its source and all backups stay.`}
        verb="Cancel the restore"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => await cancelling.mutateAsync()}
      />
    </div>
  );
}

/** The reason itself stands above it. */
function Failed<Resource extends BackedUpResource>({ backups, resource }: ProgressProps<Resource>) {
  const { kind } = backups;
  const { origin } = resource.meta;
  return (
    <section aria-label="Restore" className="mb-8 rounded-lg border border-bad bg-panel p-4">
      <p className="m-0 font-medium">The restore failed, and this {kind.noun} has no data.</p>
      <p className="mt-1 mb-0 max-w-prose text-soft">
        Delete it, and restore another backup
        {origin !== null && (
          <>
            {" of "}
            <SourceLink backups={backups} origin={origin} />
          </>
        )}
        . Nothing has changed there.
      </p>
    </section>
  );
}
