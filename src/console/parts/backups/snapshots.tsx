// The snapshots of an instance: made by name, restored to new instances, deleted.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "../button.tsx";
import { faultsOf, FormFault } from "../faults.tsx";
import { TextField } from "../field.tsx";
import { Failure, Loading, Section } from "../layout.tsx";
import { useCan } from "../session.ts";
import type { BackedUpResource, BackupKind, BackupSource } from "./backup-kind.ts";
import { snapshotsKey, useSnapshots } from "./queries.ts";
import { SnapshotLine } from "./snapshot-line.tsx";

interface SnapshotProps<Resource extends BackedUpResource> {
  backups: BackupKind<Resource>;
  source: BackupSource;
}

/** @param props.hasData whether there is anything to make a snapshot of. */
export function SnapshotSection<Resource extends BackedUpResource>(
  props: SnapshotProps<Resource> & { hasData: boolean },
) {
  const { backups, source, hasData } = props;
  const { data, error, refetch } = useSnapshots(backups, source.id);
  const canWrite = useCan(`${backups.kind.name}:write`);
  const mayMake = canWrite && hasData;
  return (
    <Section title="Snapshots">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={3} />}
      {data?.length === 0 && (
        <p className="mt-0 mb-3 text-soft">
          There are no snapshots of it.{mayMake && " Make one before you change much."}
        </p>
      )}
      <ul aria-label="Snapshots" className="m-0 list-none p-0">
        {data?.map((snapshot) => (
          <SnapshotLine key={snapshot.id} {...{ backups, source, snapshot }} />
        ))}
      </ul>
      {mayMake && <NewSnapshot {...{ backups, source }} />}
    </Section>
  );
}

function NewSnapshot<Resource extends BackedUpResource>({ backups, source }: SnapshotProps<Resource>) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const cache = useQueryClient();
  const making = useMutation({
    mutationFn: () => backups.createSnapshot(source.id, { name, ...(description !== "" && { description }) }),
    meta: { showsErrors: true },
    onSuccess: async () => {
      setName("");
      setDescription("");
      await cache.invalidateQueries({ queryKey: snapshotsKey(backups, source.id) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <form noValidate className="mt-4 flex max-w-2xl flex-col gap-3" onSubmit={submit}>
      <FormFault error={making.error} fields={["name", "description"]} />
      <div className="grid grid-cols-1 items-start gap-3 sm:grid-cols-2">
        <TextField
          label="Name of a new snapshot"
          value={name}
          onChange={setName}
          autoComplete="off"
          faults={faultsOf(making.error, "name")}
        />
        <TextField
          label="What it is for (optional)"
          value={description}
          onChange={setDescription}
          autoComplete="off"
          faults={faultsOf(making.error, "description")}
        />
      </div>
      <div>
        <Button type="submit" isBusy={making.isPending} disabled={name === ""}>
          Make a snapshot
        </Button>
      </div>
    </form>
  );
}
