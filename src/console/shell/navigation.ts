// The destinations of the navigation and of the command palette.
import { Activity, ChartColumn, LayoutGrid, type LucideIcon, Plus, ScrollText } from "lucide-react";
import { kinds } from "../kinds.ts";
import { settingsPages } from "../pages/settings/index.ts";
import { useAbilities } from "../parts/session.ts";

export interface Destination {
  to: string;
  label: string;
  icon: LucideIcon;
  /** Users without this ability do not see the page. */
  ability?: string;
}

export interface NavigationGroup {
  label: string;
  destinations: Destination[];
}

const navigation: NavigationGroup[] = [
  {
    label: "Organization",
    destinations: [
      { to: "/", label: "Overview", icon: LayoutGrid },
      { to: "/events", label: "Events", icon: Activity },
      { to: "/usage", label: "Usage", icon: ChartColumn },
      { to: "/activity", label: "Activity", icon: ScrollText, ability: "activity:read" },
    ],
  },
  {
    label: "Resources",
    destinations: kinds.map(({ path, plural, icon }) => ({ to: path, label: plural, icon })),
  },
  {
    label: "Settings",
    destinations: settingsPages.map(({ icon, page }) => ({ to: page.path, label: page.title, icon })),
  },
];

/** The pages that the session may see. */
export function useNavigation(): NavigationGroup[] {
  const can = useAbilities();
  const isShown = ({ ability }: Destination) => ability === undefined || can(ability);
  return navigation.map(({ label, destinations }) => ({ label, destinations: destinations.filter(isShown) }));
}

/** What the palette can begin. */
export const actions: Destination[] = kinds.map(({ path, noun }) => ({
  to: `${path}/new`,
  label: `Create ${noun}`,
  icon: Plus,
}));
