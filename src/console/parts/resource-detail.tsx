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
import { ResourceTabs } from "./resource-tabs.tsx";
import { useCan } from "./session.ts";
import { Status } from "./status.tsx";
import { notify } from "./toasts.tsx";

interface FrameProps<Resource extends ConsoleResource> {
  kind: KindIdentity<Resource>;
  id: string;
  /** Buttons beside the name. */
  actions?: (resource: Resource) => ReactNode;
  children: (resource: Resource) => ReactNode;
}

/** The frame of every page of one resource: its name, its state, and links to its other pages. */
export function ResourceFrame<Resource extends ConsoleResource>(props: FrameProps<Resource>) {
  const { kind, id, actions, children } = props;
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
      <ResourceTabs kind={kind} id={id} />
      {lastError && (
        <p role="alert" className="mt-0 mb-5 rounded-md border border-bad bg-bad-tint px-3 py-2">
          {lastError}
        </p>
      )}
      {children(resource)}
    </PageFrame>
  );
}

/** The main page of a resource, with its deletion at the end. */
export function ResourceDetailPage<Resource extends ConsoleResource>(
  props: FrameProps<Resource> & { remove: (id: string) => Promise<void> },
) {
  const { remove, children, ...frame } = props;
  const canWrite = useCan(`${frame.kind.name}:write`);
  return (
    <ResourceFrame {...frame}>
      {(resource) => (
        <>
          {children(resource)}
          {canWrite && resource.attributes.status !== "deleting" && (
            <Deletion kind={frame.kind} resource={resource} remove={remove} />
          )}
        </>
      )}
    </ResourceFrame>
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
  // Backups outlive their resource, and bring it back.
  const hasBackups = (resource.meta?.backup ?? null) !== null;
  const kept = `Its backups are kept for a time: the page ${kind.plural} offers to bring it back.`;
  const note = hasBackups ? kept : "This cannot be taken back.";
  return (
    <Section title="Delete" note={`Deletes the ${kind.noun} with all its data. ${note}`}>
      <Button look="danger" onClick={() => setOpen(true)}>
        Delete this {kind.noun}
      </Button>
      <Confirm
        title={`Delete ${resource.attributes.name}?`}
        text={
          hasBackups
            ? `Its clients are disconnected. ${kept}`
            : `Everything in this ${kind.noun} is lost, and its clients are disconnected.`
        }
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
