// The frame of every page with a session: navigation, command palette, and the event stream.
import { useQueryClient } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { Menu, X } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { kinds } from "../kinds.ts";
import { IconButton } from "../parts/button.tsx";
import { keepFresh } from "../parts/live.ts";
import { loadPart } from "../parts/load-part.ts";
import { useMe, useSessionOfOtherTabs } from "../parts/session.ts";
import { OfflineBanner } from "./live-note.tsx";
import { NoOrganization } from "./no-organization.tsx";
import { Sidebar } from "./sidebar.tsx";

const Palette = lazy(() => loadPart(() => import("./palette.tsx")));

export function Shell({ children }: { children: ReactNode }) {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { data: me } = useMe();
  const organizationId = me?.meta.organization_id;
  useEvents(organizationId);
  useSessionOfOtherTabs();
  usePaletteKey(() => setPaletteOpen(true));
  const main = useFocusOnNavigation();
  const openPalette = () => {
    setMenuOpen(false);
    setPaletteOpen(true);
  };
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="absolute -top-20 left-2 z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:top-2"
      >
        Skip to the content
      </a>
      <header className="flex items-center justify-between border-b border-line px-4 py-2 lg:hidden">
        <span className="text-lg font-bold tracking-tight">
          pilvi<span className="text-accent">.</span>
        </span>
        <IconButton
          label={isMenuOpen ? "Close the menu" : "Open the menu"}
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          {isMenuOpen ? <X size={18} /> : <Menu size={18} />}
        </IconButton>
      </header>
      <aside
        aria-label="Navigation"
        className={`${isMenuOpen ? "block" : "hidden"} border-line bg-sunken lg:block lg:border-r`}
      >
        <Sidebar openPalette={openPalette} onNavigate={() => setMenuOpen(false)} />
      </aside>
      <main id="content" ref={main} tabIndex={-1} className="min-w-0 outline-none">
        <OfflineBanner />
        {organizationId === null ? <NoOrganization>{children}</NoOrganization> : children}
      </main>
      <Suspense>{isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}</Suspense>
    </div>
  );
}

/** Follows the events of the organization while the frame shows it. */
function useEvents(organizationId: string | null | undefined): void {
  const cache = useQueryClient();
  useEffect(() => {
    if (organizationId === null || organizationId === undefined) return undefined;
    const ending = new AbortController();
    void keepFresh(cache, { organizationId, kinds }, ending.signal);
    return () => ending.abort();
  }, [cache, organizationId]);
}

function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

/** A screen reader reads the new page from its beginning; the first page is read anyway. */
function useFocusOnNavigation() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const main = useRef<HTMLElement>(null);
  const former = useRef(path);
  useEffect(() => {
    if (former.current !== path) main.current?.focus({ preventScroll: true });
    former.current = path;
  }, [path]);
  return main;
}
