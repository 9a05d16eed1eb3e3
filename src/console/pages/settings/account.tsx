// The account of the user: password and sessions.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { client } from "../../parts/client.ts";
import { faultsOf, FormFault } from "../../parts/faults.tsx";
import { TextField } from "../../parts/field.tsx";
import { Facts, Loading, PageFrame, Section } from "../../parts/layout.tsx";
import { RemoveButton } from "../../parts/part-list.tsx";
import { useMe } from "../../parts/session.ts";
import { Ago } from "../../parts/time.tsx";
import { notify } from "../../parts/toasts.tsx";

const KEY = ["sessions"];

export default function AccountPage() {
  const { data: me } = useMe();
  return (
    <PageFrame title="Account">
      <Section title="You">
        {me === undefined ? (
          <Loading lines={2} />
        ) : (
          <Facts
            facts={[
              ["Name", me.attributes.name],
              ["E-mail", me.attributes.email],
              ["Role here", me.meta.role ?? "none"],
            ]}
          />
        )}
      </Section>
      <Sessions />
      <Password />
    </PageFrame>
  );
}

function Sessions() {
  const { data } = useQuery({ queryKey: KEY, queryFn: async () => (await client.sessions.list()).data });
  return (
    <Section
      title="Sessions"
      note="Where you are signed in. End those that you do not know, and change your password."
    >
      {data === undefined && <Loading lines={2} />}
      <ul aria-label="Sessions" className="m-0 list-none p-0">
        {data?.map(({ id, attributes }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line py-2">
            <div className="min-w-0 grow basis-64">
              <p className="m-0 break-words">{attributes.user_agent || "An unknown program"}</p>
              <p className="m-0 text-sm text-soft">
                {attributes.address} · used <Ago at={attributes.last_used_at} />
              </p>
            </div>
            {attributes.is_current ? (
              <span className="text-sm text-good">this session</span>
            ) : (
              <RemoveButton
                label="the session"
                verb="End"
                question="Its browser has to sign in again."
                queryKey={KEY}
                remove={() => client.sessions.delete(id)}
              />
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Password() {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () => client.users.updatePassword({ current_password: current, password }),
    meta: { showsErrors: true },
    onSuccess: () => {
      setCurrent("");
      setPassword("");
      notify({ title: "The new password is in force, and your other sessions have ended." });
    },
  });
  return (
    <Section title="Password">
      <form
        noValidate
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <FormFault error={change.error} fields={["current_password", "password"]} />
        <TextField
          label="Present password"
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
          faults={faultsOf(change.error, "current_password")}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          note="At least 10 characters."
          value={password}
          onChange={setPassword}
          faults={faultsOf(change.error, "password")}
        />
        <div>
          <Button type="submit" isBusy={change.isPending}>
            Change the password
          </Button>
        </div>
      </form>
    </Section>
  );
}
