// The pages of caches in the console.
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { definePage } from "../../../console/parts/page.tsx";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import type { CacheResource } from "../../../sdk/index.ts";
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
    definePage({ path: "/caches/$id", title: "Cache", load: () => import("./detail.tsx") }),
  ],
};
