// The members of the organization with their roles, and the links that invite others.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { MemberResource, Role } from "../../../sdk/index.ts";
import { client } from "../../parts/client.ts";
import { Failure, Loading, PageFrame, Section } from "../../parts/layout.tsx";
import { RemoveButton } from "../../parts/remove-button.tsx";
import { useCan } from "../../parts/session.ts";
import { Ago } from "../../parts/time.tsx";
import { Invitations } from "./invitations.tsx";
import { ROLES } from "./roles.ts";

const KEY = ["members"];

export default function MembersPage() {
  const canWrite = useCan("members:write");
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => Array.fromAsync(client.members.all()),
  });
  return (
    <PageFrame title="Members">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      <Section title="People">
        <ul aria-label="Members" className="m-0 list-none p-0">
          {data?.map((member) => (
            <MemberRow key={member.id} member={member} canWrite={canWrite} />
          ))}
        </ul>
      </Section>
      {canWrite && <Invitations />}
    </PageFrame>
  );
}

function MemberRow({ member, canWrite }: { member: MemberResource; canWrite: boolean }) {
  const { name, email, role, created_at: since } = member.attributes;
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: (next: Role) => client.members.update(member.id, { role: next }),
    onSettled: async () => await cache.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line py-2">
      <div className="min-w-0 grow basis-56">
        <p className="m-0 font-medium break-words">{name}</p>
        <p className="m-0 text-sm break-words text-soft">
          {email} · since <Ago at={since} />
        </p>
      </div>
      {canWrite ? (
        <>
          <select
            aria-label={`Role of ${name}`}
            className="input w-auto"
            value={role}
            disabled={change.isPending}
            onChange={(event) => {
              const next = ROLES.find((each) => each === event.target.value);
              if (next !== undefined) change.mutate(next);
            }}
          >
            {ROLES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <RemoveButton
            label={name}
            verb="Remove"
            question="The person loses all access to this organization."
            queryKey={KEY}
            remove={() => client.members.delete(member.id)}
          />
        </>
      ) : (
        <span>{role}</span>
      )}
    </li>
  );
}
