// The account of the user: name and address, passkeys, sessions and password.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../../parts/client.ts";
import { Facts, Loading, PageFrame, Section } from "../../parts/layout.tsx";
import { ME_KEY, useMe } from "../../parts/session.ts";
import { EMAIL, NEW_PASSWORD, PERSON, TextForm } from "../../parts/text-form.tsx";
import { notify } from "../../parts/toasts.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Sessions } from "./sessions.tsx";

const PRESENT_PASSWORD = {
  name: "current_password",
  label: "Present password",
  type: "password",
  autoComplete: "current-password",
} as const;

export default function AccountPage() {
  return (
    <PageFrame title="Account">
      <You />
      <Passkeys />
      <Sessions />
      <Password />
    </PageFrame>
  );
}

function You() {
  const { data: me } = useMe();
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: (body: { name: string; email: string }) => client.users.update(body),
    meta: { showsErrors: true },
    onSuccess: async () => {
      notify({ title: "Your account is changed." });
      await cache.invalidateQueries({ queryKey: ME_KEY });
    },
  });
  if (me === undefined) return <Loading lines={4} />;
  const { name, email } = me.attributes;
  return (
    <Section title="You">
      <Facts facts={[["Role here", me.meta.role ?? "none"]]} />
      <TextForm
        className="mt-4 max-w-md"
        fields={[PERSON, EMAIL]}
        initial={{ name, email }}
        verb="Save"
        look="plain"
        error={change.error}
        isBusy={change.isPending}
        onSubmit={(body) => change.mutate(body)}
      />
    </Section>
  );
}

function Password() {
  const [changes, setChanges] = useState(0);
  const change = useMutation({
    mutationFn: (body: { current_password: string; password: string }) => client.users.updatePassword(body),
    meta: { showsErrors: true },
    onSuccess: () => {
      setChanges(changes + 1);
      notify({ title: "The new password is in force, and your other sessions have ended." });
    },
  });
  return (
    <Section title="Password">
      <TextForm
        // A new form after each change, with empty fields.
        key={changes}
        className="max-w-md"
        fields={[PRESENT_PASSWORD, { ...NEW_PASSWORD, label: "New password" }]}
        verb="Change the password"
        look="plain"
        error={change.error}
        isBusy={change.isPending}
        onSubmit={(body) => change.mutate(body)}
      />
    </Section>
  );
}
