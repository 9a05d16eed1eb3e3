// The pages of the settings, with their icons for the navigation.
import { Building2, CircleUser, KeyRound, type LucideIcon, Users } from "lucide-react";
import { type ConsolePage, definePage } from "../../parts/page.tsx";

export const settingsPages: readonly { icon: LucideIcon; page: ConsolePage }[] = [
  {
    icon: KeyRound,
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
