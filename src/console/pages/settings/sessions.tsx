// The sessions of the user: where the account is signed in.
import { useQuery } from "@tanstack/react-query";
import { client } from "../../parts/client.ts";
import { Failure, Loading, Section } from "../../parts/layout.tsx";
import { RemoveButton } from "../../parts/remove-button.tsx";
import { Ago } from "../../parts/time.tsx";

const KEY = ["sessions"];

/** The marks of browsers in the order in which they decide: most browsers also name others. */
const BROWSERS = { Edg: "Edge", OPR: "Opera", Firefox: "Firefox", Chrome: "Chrome", Safari: "Safari" };
const SYSTEMS = {
  Android: "Android",
  iPhone: "iPhone",
  iPad: "iPad",
  Windows: "Windows",
  Mac: "macOS",
  Linux: "Linux",
};

export function Sessions() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: async () => (await client.sessions.list()).data,
  });
  return (
    <Section
      title="Sessions"
      note="Where you are signed in. End those that you do not know, and change your password."
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={2} />}
      <ul aria-label="Sessions" className="m-0 list-none p-0">
        {data?.map(({ id, attributes }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-6 gap-y-1 border-b border-line py-2">
            <div className="min-w-0 grow basis-64">
              <p className="m-0 break-words" title={attributes.user_agent}>
                {programOf(attributes.user_agent)}
              </p>
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

/** A browser and its system, as far as the text that a program sends names them. */
function programOf(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (marks) => Object.entries(marks).find(([mark]) => userAgent.includes(mark))?.[1],
  );
  if (browser === undefined) return userAgent === "" ? "An unknown program" : userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
