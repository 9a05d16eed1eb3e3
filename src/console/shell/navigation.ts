// The destinations of the navigation and of the command palette.
import { Activity, ChartColumn, LayoutGrid, type LucideIcon, Plus, ScrollText } from "lucide-react";
import { kinds } from "../kinds.ts";
import { settingsPages } from "../pages/settings/index.ts";
import { useAbilities } from "../parts/session.ts";

export interface Destination {
  to: string;
  label: string;
  icon: LucideIcon;
  /** Users without this ability are not led here. */
  ability?: string | undefined;
}

interface NavigationGroup {
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
    destinations: settingsPages.map(({ icon, page, ability }) => ({
      to: page.path,
      label: page.title,
      icon,
      ability,
    })),
  },
];

const actions: Destination[] = kinds.map(({ name, path, noun }) => ({
  to: `${path}/new`,
  label: `Create ${noun}`,
  icon: Plus,
  ability: `${name}:write`,
}));

/** The pages that the session may see. */
export function useNavigation(): NavigationGroup[] {
  const isAllowed = useIsAllowed();
  return navigation.map(({ label, destinations }) => ({
    label,
    destinations: destinations.filter(isAllowed),
  }));
}

/** What the session may begin from the palette. */
export function useActions(): Destination[] {
  const isAllowed = useIsAllowed();
  return actions.filter(isAllowed);
}

function useIsAllowed(): (destination: Destination) => boolean {
  const can = useAbilities();
  return ({ ability }) => ability === undefined || can(ability);
}
