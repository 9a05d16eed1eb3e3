// The passkeys of the user: added with a name, and removed.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../../parts/client.ts";
import { Failure, Loading, Section } from "../../parts/layout.tsx";
import { RemoveButton } from "../../parts/remove-button.tsx";
import { addPasskey, canUsePasskeys } from "../../parts/passkeys.ts";
import { TextForm } from "../../parts/text-form.tsx";
import { Ago } from "../../parts/time.tsx";
import { notify } from "../../parts/toasts.tsx";

const KEY = ["passkeys"];
const NAME = { name: "name", label: "Name of the passkey", autoComplete: "off" } as const;

export function Passkeys() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => Array.fromAsync(client.passkeys.all()),
  });
  return (
    <Section title="Passkeys" note="A passkey signs you in with the lock of your device, without a password.">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={1} />}
      {data?.length === 0 && <p className="mt-0 mb-3">You have no passkey yet.</p>}
      <ul aria-label="Passkeys" className="mt-0 mb-4 list-none p-0 empty:hidden">
        {data?.map(({ id, attributes }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line py-2">
            <div className="min-w-0 grow basis-64">
              <p className="m-0 font-medium break-words">{attributes.name}</p>
              <p className="m-0 text-sm text-soft">
                added <Ago at={attributes.created_at} /> ·{" "}
                {attributes.last_used_at === null ? (
                  "never used"
                ) : (
                  <>
                    used <Ago at={attributes.last_used_at} />
                  </>
                )}
              </p>
            </div>
            <RemoveButton
              label={attributes.name}
              verb="Remove"
              question="It signs in no more. Remove it from your device as well."
              queryKey={KEY}
              remove={() => client.passkeys.delete(id)}
            />
          </li>
        ))}
      </ul>
      {canUsePasskeys() ? <NewPasskey /> : <NoPasskeysHere />}
    </Section>
  );
}

function NewPasskey() {
  const [added, setAdded] = useState(0);
  const cache = useQueryClient();
  const adding = useMutation({
    mutationFn: (name: string) => addPasskey(name),
    meta: { showsErrors: true },
    onSuccess: async ({ attributes }) => {
      setAdded(added + 1);
      notify({ title: `The passkey ${attributes.name} signs you in from now on.` });
      await cache.invalidateQueries({ queryKey: KEY });
    },
  });
  return (
    <TextForm
      // A new form after each passkey, with an empty field.
      key={added}
      className="max-w-md"
      fields={[{ ...NAME, note: "Such as the device that keeps it." }]}
      verb="Add a passkey"
      error={adding.error}
      isBusy={adding.isPending}
      onSubmit={({ name }) => adding.mutate(name)}
    />
  );
}

/** The machine itself has a host name that browsers trust without a certificate. */
function NoPasskeysHere() {
  const local = `http://localhost${location.port === "" ? "" : `:${location.port}`}/settings/account`;
  return (
    <p className="m-0 text-sm text-soft">
      Browsers have passkeys under a host name only, over HTTPS or on the own machine. On the machine that
      runs Pilvi, open{" "}
      <a className="link" href={local}>
        {local}
      </a>
      .
    </p>
  );
}
