// The state of the backups of an instance: what can be restored, how far behind it is, and when a restore was verified.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { Empty, Facts, Failure, Loading, Section } from "../layout.tsx";
import { keepResource } from "../resources.ts";
import { useCan } from "../session.ts";
import { bytesText } from "../sizes.ts";
import { Ago, Moment } from "../time.tsx";
import { notify } from "../toasts.tsx";
import { durationText } from "../wake-list.ts";
import type { BackedUpResource, BackupKind, BackupsData } from "./backup-kind.ts";
import { useBackups } from "./queries.ts";

interface OfferProps<Resource extends BackedUpResource> {
  backups: BackupKind<Resource>;
  resource: Resource;
}

/** @param props.resource undefined for an instance that is deleted, of which no further backups are made. */
export function BackupStateSection<Resource extends BackedUpResource>(props: {
  backups: BackupKind<Resource>;
  id: string;
  resource?: Resource;
}) {
  const { backups, id, resource } = props;
  const { data, error, refetch } = useBackups(backups, id);
  const isEmpty = data !== undefined && data.window === null && data.backups.length === 0;
  return (
    <Section title="State">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={3} />}
      {data?.last_error && (
        <p role="alert" className="mt-0 mb-4 rounded-md border border-bad bg-bad-tint px-3 py-2">
          {data.last_error}
        </p>
      )}
      {data && !isEmpty && <Facts facts={factsOf(data)} />}
      {data && data.gaps.length > 0 && (
        <p className="mt-3 mb-0 max-w-prose text-sm text-bad">
          Parts of the log are missing. An instant after such a gap can be restored once a later backup is
          there.
        </p>
      )}
      {data && data.window === null && resource && <ScheduleOffer {...{ backups, resource, isEmpty }} />}
    </Section>
  );
}

function factsOf(data: BackupsData) {
  const { window, lag_seconds: lag, last_backup_at: last } = data;
  const { verified_at: at, verified_restore_seconds: took } = data;
  const facts: [string, ReactNode][] = [
    ["Last backup", last === null ? "none yet" : <Ago key="last" at={last} />],
    ["Size of all backups", bytesText(data.stored_bytes)],
  ];
  if (window !== null) facts.unshift(["Instants since", <Moment key="since" at={window.earliest} />]);
  if (lag !== null)
    facts.push(["Log is behind by", lag < 1 ? "less than a second" : durationText(lag * 1000)]);
  facts.push(["Last verified restore", at === null ? "none yet" : <Ago key="verified" at={at} />]);
  if (took !== null) facts.push(["Verified in", durationText(took * 1000)]);
  return facts;
}

/** What the schedule of backups gives, with a button that turns it on. */
function ScheduleOffer<Resource extends BackedUpResource>(
  props: OfferProps<Resource> & { isEmpty: boolean },
) {
  const { backups, resource, isEmpty } = props;
  const canWrite = useCan(`${backups.kind.name}:write`);
  const cache = useQueryClient();
  const schedule = backups.scheduleOf(resource);
  const turningOn = useMutation({
    mutationFn: async () => await schedule?.turnOn(),
    onSuccess: (answer) => {
      if (answer !== undefined) keepResource(cache, backups.kind, answer.data);
      notify({ title: "The schedule of backups is on." });
    },
  });
  if (schedule?.isOn === true) {
    return isEmpty ? <p className="m-0 text-soft">The first backup is made in a moment.</p> : null;
  }
  const action = schedule !== null && canWrite && resource.attributes.status === "available" && (
    <Button isBusy={turningOn.isPending} onClick={() => turningOn.mutate()}>
      {schedule.label}
    </Button>
  );
  if (isEmpty) {
    const text = `A snapshot keeps the data of one moment until you delete it. ${schedule?.text ?? ""}`;
    return <Empty title="There are no backups yet" text={text} action={action} />;
  }
  if (schedule === null) return null;
  return (
    <div className="mt-4 flex flex-wrap items-center gap-3">
      <p className="m-0 max-w-prose grow text-sm text-soft">{schedule.text}</p>
      {action}
    </div>
  );
}
