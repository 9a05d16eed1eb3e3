// The frame of a resource's own page: its name, its state, what can be done with it, and its deletion.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { PilviError } from "../../sdk/index.ts";
import { Button } from "./button.tsx";
import { Confirm } from "./dialog.tsx";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { Empty, Failure, Loading, PageFrame, Section } from "./layout.tsx";
import { keepResource, refreshResource, useResource } from "./resources.ts";
import { useCan } from "./session.ts";
import { Status } from "./status.tsx";
import { notify } from "./toasts.tsx";

interface DetailProps<Resource extends ConsoleResource> {
  kind: KindIdentity<Resource>;
  id: string;
  remove: (id: string) => Promise<void>;
  /** Buttons beside the name. */
  actions?: (resource: Resource) => ReactNode;
  children: (resource: Resource) => ReactNode;
}

export function ResourceDetailPage<Resource extends ConsoleResource>(props: DetailProps<Resource>) {
  const { kind, id, remove, actions, children } = props;
  const { data: resource, error, refetch } = useResource(kind, id);
  const canWrite = useCan(`${kind.name}:write`);
  const back = { to: kind.path, label: kind.plural };
  if (error instanceof PilviError && error.status === 404) {
    return (
      <PageFrame title={resource?.attributes.name ?? `No such ${kind.noun}`} back={back}>
        <Empty
          title={`This ${kind.noun} is not there`}
          text="It was deleted, or belongs to another organization."
        />
      </PageFrame>
    );
  }
  if (resource === undefined) {
    return (
      <PageFrame title="…" back={back}>
        {error ? <Failure error={error} retry={() => void refetch()} /> : <Loading lines={8} />}
      </PageFrame>
    );
  }
  const { name, status } = resource.attributes;
  const lastError = resource.meta?.last_error;
  return (
    <PageFrame
      title={name}
      back={back}
      beside={<Status status={status} sleep={resource.meta?.sleep} />}
      actions={canWrite && actions?.(resource)}
    >
      {lastError && (
        <p role="alert" className="mt-0 mb-5 rounded-md border border-bad bg-bad-tint px-3 py-2">
          {lastError}
        </p>
      )}
      {children(resource)}
      {canWrite && status !== "deleting" && <Deletion kind={kind} resource={resource} remove={remove} />}
    </PageFrame>
  );
}

function Deletion(props: {
  kind: KindIdentity;
  resource: ConsoleResource;
  remove: (id: string) => Promise<void>;
}) {
  const { kind, resource, remove } = props;
  const [isOpen, setOpen] = useState(false);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const deletion = useMutation({
    mutationFn: () => remove(resource.id),
    onSuccess: async () => {
      await navigate({ to: kind.path });
      notify({ title: `${resource.attributes.name} is being deleted.` });
      await refreshResource(cache, kind, resource.id);
    },
  });
  return (
    <Section title="Delete" note={`Deletes the ${kind.noun} with all its data. This cannot be taken back.`}>
      <Button look="danger" onClick={() => setOpen(true)}>
        Delete this {kind.noun}
      </Button>
      <Confirm
        title={`Delete ${resource.attributes.name}?`}
        text={`Everything in this ${kind.noun} is lost, and its clients are disconnected.`}
        verb="Delete"
        name={resource.attributes.name}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => await deletion.mutateAsync()}
      />
    </Section>
  );
}

/** A button for an action whose answer is the changed resource. */
export function ResourceAction<Resource extends ConsoleResource>(props: {
  kind: KindIdentity<Resource>;
  label: string;
  act: () => Promise<{ data: Resource }>;
  done: string;
  /** Asked before it begins. */
  question?: { title: string; text: string };
  isDisabled?: boolean;
}) {
  const { kind, label, act, done, question, isDisabled = false } = props;
  const [isOpen, setOpen] = useState(false);
  const cache = useQueryClient();
  const action = useMutation({
    mutationFn: act,
    onSuccess: ({ data }) => {
      keepResource(cache, kind, data);
      notify({ title: done });
    },
  });
  return (
    <>
      <Button
        isBusy={action.isPending}
        disabled={isDisabled}
        onClick={() => (question === undefined ? action.mutate() : setOpen(true))}
      >
        {label}
      </Button>
      {question && (
        <Confirm
          {...question}
          verb={label}
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          onConfirm={async () => void (await action.mutateAsync())}
        />
      )}
    </>
  );
}
