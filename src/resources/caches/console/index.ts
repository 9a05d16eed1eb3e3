// The pages of caches in the console.
import { parseMetricsSearch } from "../../../console/parts/charts/period.ts";
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { definePage } from "../../../console/parts/page.tsx";
import { parseLogSearch } from "../../../console/parts/logs/log-search.ts";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import type { CacheResource } from "../../../sdk/index.ts";
import { parseKeysSearch } from "./keys-search.ts";
import { cacheKind } from "./kind.ts";

export const caches: ConsoleKind<CacheResource> = {
  ...cacheKind,
  pages: [
    definePage({
      path: "/caches",
      title: "Caches",
      parseSearch: parseListSearch,
      load: () => import("./list.tsx"),
    }),
    definePage({ path: "/caches/new", title: "Create cache", load: () => import("./create.tsx") }),
    definePage({
      path: "/caches/$id",
      title: "Cache",
      parseSearch: parseMetricsSearch,
      load: () => import("./detail.tsx"),
    }),
    definePage({
      path: "/caches/$id/backups",
      title: "Backups of a cache",
      load: () => import("./backups.tsx"),
    }),
    definePage({
      path: "/caches/$id/logs",
      title: "Log of a cache",
      parseSearch: parseLogSearch,
      load: () => import("./logs.tsx"),
    }),
    definePage({
      path: "/caches/$id/keys",
      title: "Keys of a cache",
      parseSearch: parseKeysSearch,
      load: () => import("./keys.tsx"),
    }),
  ],
};
