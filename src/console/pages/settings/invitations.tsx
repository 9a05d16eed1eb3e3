// Invitations: links that make their readers members.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "../../../sdk/index.ts";
import { Button } from "../../parts/button.tsx";
import { client } from "../../parts/client.ts";
import { Code } from "../../parts/copy.tsx";
import { faultsOf, FormFault } from "../../parts/faults.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Failure, Loading, Section } from "../../parts/layout.tsx";
import { RemoveButton } from "../../parts/remove-button.tsx";
import { Moment } from "../../parts/time.tsx";
import { ROLE_OPTIONS } from "./roles.ts";

const KEY = ["invitations"];

export function Invitations() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => Array.fromAsync(client.invitations.all()),
  });
  return (
    <Section
      title="Invitations"
      note="An invitation is a link that you pass on. Its reader becomes a member."
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={1} />}
      <ul aria-label="Invitations" className="mt-0 mb-4 list-none p-0">
        {data?.map(({ id, attributes: { role, email, expires_at: expiresAt } }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-6 border-b border-line py-1.5">
            <span className="grow">{email ?? "Any person with the link"}</span>
            <span className="text-sm text-soft">
              {role} · until <Moment at={expiresAt} />
            </span>
            <RemoveButton
              label={`the invitation of ${email ?? role}`}
              verb="Withdraw"
              question="The link is refused from then on."
              queryKey={KEY}
              remove={() => client.invitations.delete(id)}
            />
          </li>
        ))}
      </ul>
      <NewInvitation />
    </Section>
  );
}

function NewInvitation() {
  const [role, setRole] = useState<Role>("developer");
  const [email, setEmail] = useState("");
  const cache = useQueryClient();
  const making = useMutation({
    mutationFn: () => client.invitations.create({ role, ...(email !== "" && { email }) }),
    meta: { showsErrors: true },
    onSuccess: async () => await cache.invalidateQueries({ queryKey: KEY }),
  });
  const link = making.data?.data.attributes.link;
  return (
    <form
      noValidate
      className="flex max-w-xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        making.mutate();
      }}
    >
      <FormFault error={making.error} fields={["email", "role"]} />
      <SelectField
        label="Role"
        value={role}
        options={ROLE_OPTIONS}
        faults={faultsOf(making.error, "role")}
        onChange={(value) => setRole(ROLE_OPTIONS.find((each) => each.value === value)?.value ?? role)}
      />
      <TextField
        label="E-mail"
        type="email"
        note="If given, only an account with this address may accept."
        value={email}
        onChange={setEmail}
        faults={faultsOf(making.error, "email")}
      />
      <div>
        <Button type="submit" look="primary" isBusy={making.isPending}>
          Make an invitation
        </Button>
      </div>
      {link !== undefined && <Code label="invitation link" text={link} />}
    </form>
  );
}
