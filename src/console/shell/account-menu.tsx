// The organization whose resources are shown, and the end of the session.
import { Menu } from "@base-ui/react/menu";
import { useQuery } from "@tanstack/react-query";
import { ChevronsUpDown, LogOut } from "lucide-react";
import { client } from "../parts/client.ts";
import { useSignOut } from "../parts/session.ts";

const ITEM = "flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 data-highlighted:bg-hover";

export function AccountMenu() {
  const organization = useQuery({ queryKey: ["organization"], queryFn: () => client.organization.get() });
  const signOut = useSignOut();
  const name = organization.data?.data.attributes.name ?? "…";
  return (
    <Menu.Root>
      <Menu.Trigger
        aria-label={`Organization ${name}`}
        className="flex min-h-9 items-center gap-2 rounded-md border border-line bg-panel px-2.5 text-left font-medium hover:bg-hover"
      >
        <span className="min-w-0 grow truncate">{name}</span>
        <ChevronsUpDown size={14} aria-hidden className="text-soft" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start" className="z-30">
          <Menu.Popup className="min-w-48 rounded-lg border border-line bg-panel p-1 shadow-pop">
            <Menu.Item className={ITEM} onClick={() => signOut.mutate()}>
              <LogOut size={14} aria-hidden />
              Sign out
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
