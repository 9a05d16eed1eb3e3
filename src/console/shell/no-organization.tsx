// What stands in the place of a page while the session works on no organization.
import { useRouterState } from "@tanstack/react-router";
import { Building2 } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Empty, PageFrame } from "../parts/layout.tsx";
import { useMe, useSwitchOrganization } from "../parts/session.ts";

/** The pages of the account need no organization. */
const OWN_PAGES = new Set(["/settings/account", "/settings/organizations"]);

export function NoOrganization({ children }: { children: ReactNode }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { data: me } = useMe();
  const switching = useSwitchOrganization();
  if (OWN_PAGES.has(path)) return children;
  const organizations = me?.meta.organizations ?? [];
  if (organizations.length === 0) {
    return (
      <PageFrame title="No organization">
        <Empty
          icon={Building2}
          title="You are a member of no organization"
          text="Ask an owner or an admin of an organization for an invitation."
        />
      </PageFrame>
    );
  }
  return (
    <PageFrame title="Choose an organization">
      <ul aria-label="Organizations" className="m-0 flex max-w-md list-none flex-col gap-2 p-0">
        {organizations.map(({ id, name, role }) => (
          <li key={id} className="flex items-center gap-4 border-b border-line pb-2">
            <span className="min-w-0 grow break-words">
              {name} <span className="text-sm text-soft">{role}</span>
            </span>
            <Button
              isBusy={switching.isPending}
              aria-label={`Open ${name}`}
              onClick={() => switching.mutate(id)}
            >
              Open
            </Button>
          </li>
        ))}
      </ul>
    </PageFrame>
  );
}
