// The tokens of the organization: made for programs, shown once, and revoked.
import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { client } from "../../parts/client.ts";
import { Code } from "../../parts/copy.tsx";
import { Empty, Failure, Loading, PageFrame, Section } from "../../parts/layout.tsx";
import { RemoveButton } from "../../parts/remove-button.tsx";
import { useCan } from "../../parts/session.ts";
import { Ago, Moment } from "../../parts/time.tsx";
import type { TokenResource } from "../../../sdk/index.ts";
import { NewToken } from "./new-token.tsx";

const KEY = ["tokens"];

export default function TokensPage() {
  return useCan("tokens:read") ? <Tokens /> : <NotAllowed />;
}

function NotAllowed() {
  return (
    <PageFrame title="Tokens">
      <Empty
        icon={KeyRound}
        title="Your role does not show tokens"
        text="Owners and admins make the tokens with which programs use the API."
      />
    </PageFrame>
  );
}

function Tokens() {
  const canWrite = useCan("tokens:write");
  const [made, setMade] = useState<TokenResource>();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => Array.fromAsync(client.tokens.all()),
  });
  return (
    <PageFrame title="Tokens">
      {made?.attributes.token !== undefined && (
        <Section
          title={`The token ${made.attributes.name}`}
          note="Copy it now: it is shown this once. Programs send it in the header Authorization, after the word Bearer."
        >
          <Code label="token" text={made.attributes.token} />
        </Section>
      )}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && (
        <Empty
          icon={KeyRound}
          title="No tokens yet"
          text="A token lets a program use the API: the CLI, a deployment, a script."
        />
      )}
      {data && data.length > 0 && (
        <ul aria-label="Tokens" className="mt-0 mb-8 list-none border-t border-line p-0">
          {data.map((token) => (
            <TokenRow key={token.id} token={token} canWrite={canWrite} />
          ))}
        </ul>
      )}
      {canWrite && <NewToken queryKey={KEY} onMade={setMade} />}
    </PageFrame>
  );
}

function TokenRow({ token, canWrite }: { token: TokenResource; canWrite: boolean }) {
  const {
    name,
    abilities,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
    created_by: madeBy,
  } = token.attributes;
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line py-2">
      <div className="min-w-0 grow basis-64">
        <p className="m-0 font-medium break-words">{name}</p>
        <p className="m-0 font-mono text-xs break-words text-soft">{abilities.join(", ")}</p>
      </div>
      <p className="m-0 text-sm text-soft">
        {lastUsedAt === null ? (
          "never used"
        ) : (
          <>
            used <Ago at={lastUsedAt} />
          </>
        )}
        {expiresAt !== null && (
          <>
            {" "}
            · ends <Moment at={expiresAt} />
          </>
        )}
        {madeBy !== null && ` · by ${madeBy}`}
      </p>
      {canWrite && (
        <RemoveButton
          label={name}
          verb="Revoke"
          question="Programs that use it are refused from then on."
          queryKey={KEY}
          remove={() => client.tokens.delete(token.id)}
        />
      )}
    </li>
  );
}
