// The pages that belong to no kind; those without a session stand apart.
import { parseActivitySearch } from "./activity/search.ts";
import { settingsPages } from "./settings/index.ts";
import { parseUsageSearch } from "./usage/search.ts";
import { type ConsolePage, definePage, textIn } from "../parts/page.tsx";

export const pages: readonly ConsolePage[] = [
  definePage({ path: "/", title: "Overview", load: () => import("./overview.tsx") }),
  definePage({ path: "/events", title: "Events", load: () => import("./events.tsx") }),
  definePage({
    path: "/activity",
    title: "Activity",
    parseSearch: parseActivitySearch,
    load: () => import("./activity/activity.tsx"),
  }),
  definePage({
    path: "/usage",
    title: "Usage",
    parseSearch: parseUsageSearch,
    load: () => import("./usage/usage.tsx"),
  }),
  ...settingsPages.map(({ page }) => page),
];

export const publicPages: readonly ConsolePage[] = [
  definePage({
    path: "/sign-in",
    title: "Sign in",
    parseSearch: (raw) => ({ next: textIn(raw, "next") }),
    load: () => import("./sign-in.tsx"),
  }),
  definePage({ path: "/welcome", title: "Welcome", load: () => import("./welcome.tsx") }),
  definePage({ path: "/invitation", title: "Invitation", load: () => import("./invitation.tsx") }),
  definePage({ path: "/recovery", title: "New password", load: () => import("./recovery.tsx") }),
];
