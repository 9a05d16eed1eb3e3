// The navigation: at the side of wide screens, behind a button on narrow screens.
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { AccountMenu } from "./account-menu.tsx";
import { LiveNote } from "./live-note.tsx";
import { useNavigation } from "./navigation.ts";
import { ThemeSwitch } from "./theme-switch.tsx";

const ITEM =
  "flex min-h-8 items-center gap-2.5 rounded-md px-2.5 text-base text-soft no-underline hover:bg-hover hover:text-ink data-[status=active]:bg-tint data-[status=active]:font-medium data-[status=active]:text-ink";

export function Sidebar({ openPalette, onNavigate }: { openPalette: () => void; onNavigate: () => void }) {
  return (
    <div className="flex flex-col gap-4 px-3 py-4 lg:sticky lg:top-0 lg:h-dvh">
      <Link
        to="/"
        onClick={onNavigate}
        className="hidden px-2.5 text-lg font-bold tracking-tight text-ink no-underline lg:block"
      >
        pilvi<span className="text-accent">.</span>
      </Link>
      <AccountMenu />
      <button
        type="button"
        onClick={openPalette}
        className="flex min-h-8 items-center gap-2 rounded-md border border-line bg-panel px-2.5 text-sm text-soft hover:text-ink"
      >
        <Search size={14} aria-hidden />
        <span className="grow text-left">Go to…</span>
        <kbd className="font-mono text-xs">Ctrl K</kbd>
      </button>
      <nav aria-label="Main" className="flex grow flex-col gap-4 overflow-y-auto">
        {useNavigation().map(({ label, destinations }) => (
          <div key={label}>
            <p className="mx-2.5 mt-0 mb-1 text-xs text-soft">{label}</p>
            <ul className="m-0 flex list-none flex-col gap-px p-0">
              {destinations.map(({ to, label: text, icon: Icon }) => (
                <li key={to}>
                  <Link to={to} activeOptions={{ exact: to === "/" }} onClick={onNavigate} className={ITEM}>
                    <Icon size={15} aria-hidden className="shrink-0" />
                    {text}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="flex items-center justify-between gap-2">
        <LiveNote />
        <ThemeSwitch />
      </div>
    </div>
  );
}
