// The organizations of the user: made, opened, renamed, left and deleted.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { OwnOrganizationResource } from "../../../sdk/index.ts";
import { Button } from "../../parts/button.tsx";
import { client } from "../../parts/client.ts";
import { Confirm, Modal } from "../../parts/dialog.tsx";
import { Failure, Loading, PageFrame, Section } from "../../parts/layout.tsx";
import { ME_KEY, useMe, useSwitchOrganization } from "../../parts/session.ts";
import { TextForm } from "../../parts/text-form.tsx";
import { notify } from "../../parts/toasts.tsx";

const KEY = ["organizations"];
const NAME = { name: "name", label: "Name", autoComplete: "off" } as const;

export default function OrganizationsPage() {
  const { data: me } = useMe();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => Array.fromAsync(client.organizations.all()),
  });
  const mayMake = me?.meta.role === "owner" || me?.meta.role === "admin";
  return (
    <PageFrame title="Organizations">
      <Section
        title="Yours"
        note="An organization has its own resources, members and tokens. The console shows one at a time, in all tabs."
      >
        {error && <Failure error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading lines={2} />}
        <ul aria-label="Organizations" className="m-0 list-none p-0">
          {data?.map((organization) => (
            <OrganizationRow
              key={organization.id}
              organization={organization}
              isShown={organization.id === me?.meta.organization_id}
            />
          ))}
        </ul>
      </Section>
      {mayMake && <NewOrganization />}
    </PageFrame>
  );
}

function OrganizationRow(props: { organization: OwnOrganizationResource; isShown: boolean }) {
  const { organization, isShown } = props;
  const { name, role } = organization.attributes;
  const switching = useSwitchOrganization();
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line py-2">
      <div className="min-w-0 grow basis-56">
        <p className="m-0 font-medium break-words">{name}</p>
        <p className="m-0 text-sm text-soft">{role}</p>
      </div>
      {isShown ? (
        <span className="text-sm text-good">shown now</span>
      ) : (
        <Button
          aria-label={`Open ${name}`}
          isBusy={switching.isPending}
          onClick={() => switching.mutate(organization.id)}
        >
          Open
        </Button>
      )}
      {role === "owner" && <Rename organization={organization} />}
      <Ending
        organization={organization}
        verb="Leave"
        question="You lose all access to it, and your tokens there are revoked."
        end={() => client.organizations.leave(organization.id)}
      />
      {role === "owner" && (
        <Ending
          organization={organization}
          verb="Delete"
          question="Its members lose all access, and its tokens are revoked. All its resources have to be deleted before. This cannot be taken back."
          isNameTyped
          end={() => client.organizations.delete(organization.id)}
        />
      )}
    </li>
  );
}

function Rename({ organization }: { organization: OwnOrganizationResource }) {
  const { name } = organization.attributes;
  const [isOpen, setOpen] = useState(false);
  const readAgain = useReadAgain();
  const renaming = useMutation({
    mutationFn: (body: { name: string }) => client.organizations.update(organization.id, body),
    meta: { showsErrors: true },
    onSuccess: async () => {
      setOpen(false);
      await readAgain();
    },
  });
  return (
    <>
      <Button look="ghost" aria-label={`Rename ${name}`} onClick={() => setOpen(true)}>
        Rename
      </Button>
      <Modal title={`Rename ${name}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <TextForm
          fields={[{ ...NAME, label: "New name" }]}
          initial={{ name }}
          verb="Save the name"
          error={renaming.error}
          isBusy={renaming.isPending}
          onSubmit={(body) => renaming.mutate(body)}
        />
      </Modal>
    </>
  );
}

/** A button that takes the organization away from the user, after a question. */
function Ending(props: {
  organization: OwnOrganizationResource;
  verb: "Leave" | "Delete";
  question: string;
  isNameTyped?: boolean;
  end: () => Promise<void>;
}) {
  const { organization, verb, question, isNameTyped = false, end } = props;
  const { name } = organization.attributes;
  const [isOpen, setOpen] = useState(false);
  const readAgain = useReadAgain();
  const ending = useMutation({
    mutationFn: end,
    onSuccess: async () => {
      notify({ title: verb === "Leave" ? `You have left ${name}.` : `${name} is deleted.` });
      await readAgain();
    },
  });
  return (
    <>
      <Button look="ghost" aria-label={`${verb} ${name}`} onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Confirm
        title={`${verb} ${name}?`}
        text={question}
        verb={verb}
        {...(isNameTyped && { name })}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => await ending.mutateAsync()}
      />
    </>
  );
}

function NewOrganization() {
  const readAgain = useReadAgain();
  const switching = useSwitchOrganization();
  const making = useMutation({
    mutationFn: (body: { name: string }) => client.organizations.create(body),
    meta: { showsErrors: true },
    onSuccess: async ({ data }) => {
      await readAgain();
      await switching.mutateAsync(data.id);
    },
  });
  return (
    <Section title="New organization" note="You are its owner, and the console shows it at once.">
      <TextForm
        className="max-w-md"
        fields={[{ ...NAME, note: "From 2 to 60 characters." }]}
        verb="Make the organization"
        error={making.error}
        isBusy={making.isPending}
        onSubmit={(body) => making.mutate(body)}
      />
    </Section>
  );
}

/** The organizations also stand in the menu of the account. */
function useReadAgain(): () => Promise<void> {
  const cache = useQueryClient();
  return async () => {
    await Promise.all([KEY, ME_KEY].map((queryKey) => cache.invalidateQueries({ queryKey })));
  };
}
