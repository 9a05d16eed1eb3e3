// The menu of the account, open: the other organizations of the user, and the end of the session.
import { Menu } from "@base-ui/react/menu";
import { useNavigate } from "@tanstack/react-router";
import { Building2, Check, LogOut } from "lucide-react";
import { useState } from "react";
import { useMe, useSignOut, useSwitchOrganization } from "../parts/session.ts";
import { BUTTON, ShownOrganization } from "./account-menu.tsx";

const ITEM = "flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 data-highlighted:bg-hover";
const LABEL = "px-2 pt-1.5 pb-1 text-xs text-soft";

/** The button and its menu, which is open at first. */
export function AccountMenuPopup() {
  const { data: me } = useMe();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const switchOrganization = useSwitchOrganization();
  // Inside of the navigation, a landmark by which screen readers find it.
  const [place, setPlace] = useState<HTMLDivElement | null>(null);
  return (
    <div ref={setPlace} className="flex flex-col">
      <Menu.Root defaultOpen>
        <Menu.Trigger className={BUTTON}>
          <ShownOrganization />
        </Menu.Trigger>
        <Menu.Portal container={place}>
          <Menu.Positioner sideOffset={4} align="start" className="z-30">
            <Menu.Popup className="min-w-48 rounded-lg border border-line bg-panel p-1 shadow-pop">
              <Menu.Group>
                <Menu.GroupLabel className={LABEL}>Organizations</Menu.GroupLabel>
                {me?.meta.organizations.map((organization) => (
                  <Menu.Item
                    key={organization.id}
                    className={ITEM}
                    onClick={() => switchOrganization.mutate(organization.id)}
                  >
                    <span className="grow">{organization.name}</span>
                    <span className="text-xs text-soft">{organization.role}</span>
                    {organization.id === me.meta.organization_id && (
                      <Check size={14} aria-label="shown now" />
                    )}
                  </Menu.Item>
                ))}
              </Menu.Group>
              <Menu.Separator className="my-1 border-t border-line" />
              <Menu.Item className={ITEM} onClick={() => void navigate({ to: "/settings/organizations" })}>
                <Building2 size={14} aria-hidden />
                Manage organizations
              </Menu.Item>
              <Menu.Item className={ITEM} onClick={() => signOut.mutate()}>
                <LogOut size={14} aria-hidden />
                Sign out
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}
