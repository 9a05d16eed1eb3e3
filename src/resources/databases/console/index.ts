// The pages of database clusters in the console.
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import { definePage } from "../../../console/parts/page.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";

export const databases: ConsoleKind<DatabaseClusterResource> = {
  ...databaseKind,
  pages: [
    definePage({
      path: "/databases",
      title: "Databases",
      parseSearch: parseListSearch,
      load: () => import("./list.tsx"),
    }),
    definePage({
      path: "/databases/new",
      title: "Create database cluster",
      load: () => import("./create.tsx"),
    }),
    definePage({ path: "/databases/$id", title: "Database cluster", load: () => import("./detail.tsx") }),
  ],
};
