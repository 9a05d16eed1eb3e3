// The pages of the settings, with their icons for the navigation.
import { Building2, CircleUser, KeyRound, type LucideIcon, Users } from "lucide-react";
import { type ConsolePage, definePage } from "../../parts/page.tsx";

interface SettingsPage {
  icon: LucideIcon;
  page: ConsolePage;
  /** The navigation leaves the page out for users without this ability. */
  ability?: string;
}

export const settingsPages: readonly SettingsPage[] = [
  {
    icon: KeyRound,
    ability: "tokens:read",
    page: definePage({ path: "/settings/tokens", title: "Tokens", load: () => import("./tokens.tsx") }),
  },
  {
    icon: Users,
    page: definePage({ path: "/settings/members", title: "Members", load: () => import("./members.tsx") }),
  },
  {
    icon: Building2,
    page: definePage({
      path: "/settings/organizations",
      title: "Organizations",
      load: () => import("./organizations.tsx"),
    }),
  },
  {
    icon: CircleUser,
    page: definePage({ path: "/settings/account", title: "Account", load: () => import("./account.tsx") }),
  },
];
