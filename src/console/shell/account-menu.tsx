// The button with the organization that is shown. The menu behind it would be a fifth of the code that every page loads
// first, so it is loaded when it is about to be opened.
import { ChevronsUpDown } from "lucide-react";
import { type ComponentType, type KeyboardEvent, useState } from "react";
import { loadPart } from "../parts/load-part.ts";
import { useMe } from "../parts/session.ts";
import { notifyError } from "../parts/toasts.tsx";

export const BUTTON =
  "flex min-h-9 items-center gap-2 rounded-md border border-line bg-panel px-2.5 py-1.5 text-left hover:bg-hover";

const loadMenu = () => loadPart(() => import("./account-menu-popup.tsx"));
const prepare = () => void loadMenu().catch(() => undefined);

export function AccountMenu() {
  const [Menu, setMenu] = useState<ComponentType>();
  if (Menu !== undefined) return <Menu />;
  const open = () => {
    loadMenu().then(({ AccountMenuPopup }) => setMenu(() => AccountMenuPopup), notifyError);
  };
  // A menu also opens with the arrow that leads into it.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open();
  };
  return (
    <div className="flex flex-col">
      <button
        type="button"
        aria-haspopup="menu"
        aria-expanded={false}
        className={BUTTON}
        onPointerEnter={prepare}
        onFocus={prepare}
        onClick={open}
        onKeyDown={onKeyDown}
      >
        <ShownOrganization />
      </button>
    </div>
  );
}

/** What the button says. */
export function ShownOrganization() {
  const { data: me } = useMe();
  const organization = me?.meta.organizations.find(({ id }) => id === me.meta.organization_id);
  return (
    <>
      <span className="min-w-0 grow">
        <span className="block truncate leading-5 font-medium">{organization?.name ?? "…"}</span>
        <span className="block truncate text-xs text-soft">{me?.attributes.email ?? "…"}</span>
      </span>
      <ChevronsUpDown size={14} aria-hidden className="text-soft" />
    </>
  );
}
