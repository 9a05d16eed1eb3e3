// The destinations of the navigation and of the command palette.
import { Activity, LayoutGrid, type LucideIcon, Plus } from "lucide-react";
import { kinds } from "../kinds.ts";
import { settingsPages } from "../pages/settings/index.ts";

export interface Destination {
  to: string;
  label: string;
  icon: LucideIcon;
}

export interface NavigationGroup {
  label: string;
  destinations: Destination[];
}

export const navigation: NavigationGroup[] = [
  {
    label: "Organization",
    destinations: [
      { to: "/", label: "Overview", icon: LayoutGrid },
      { to: "/activity", label: "Activity", icon: Activity },
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

/** What the palette can begin. */
export const actions: Destination[] = kinds.map(({ path, noun }) => ({
  to: `${path}/new`,
  label: `Create ${noun}`,
  icon: Plus,
}));
