// The pages of database clusters in the console.
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { parseLogSearch } from "../../../console/parts/logs/log-search.ts";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import { definePage } from "../../../console/parts/page.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { databaseKind } from "./kind.ts";
import { parseQueriesSearch } from "./queries/search.ts";
import { parseDatabaseSearch } from "./search.ts";

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
    definePage({ path: "/databases/$id/query", title: "Query", load: () => import("./query/page.tsx") }),
    definePage({
      path: "/databases/$id",
      title: "Database cluster",
      parseSearch: parseDatabaseSearch,
      load: () => import("./detail.tsx"),
    }),
    definePage({
      path: "/databases/$id/databases/new",
      title: "Create database",
      load: () => import("./database-create.tsx"),
    }),
    definePage({
      path: "/databases/$id/backups",
      title: "Backups of a database cluster",
      load: () => import("./backups.tsx"),
    }),
    definePage({
      path: "/databases/$id/logs",
      title: "Log of a database cluster",
      parseSearch: parseLogSearch,
      load: () => import("./logs.tsx"),
    }),
    definePage({
      path: "/databases/$id/queries",
      title: "Queries",
      parseSearch: parseQueriesSearch,
      load: () => import("./queries/page.tsx"),
    }),
  ],
};
