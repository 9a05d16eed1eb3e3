// The pages of applications in the console.
import { parseMetricsSearch } from "../../../console/parts/charts/period.ts";
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import { parseLogSearch } from "../../../console/parts/logs/log-search.ts";
import { definePage } from "../../../console/parts/page.tsx";
import { parseCommandsSearch } from "./commands-search.ts";
import { type ConsoleApplication, applicationKind } from "./kind.ts";
import { parseProcessSearch } from "./process-search.ts";
import { parseVariablesSearch } from "./variables-search.ts";

export const applications: ConsoleKind<ConsoleApplication> = {
  ...applicationKind,
  pages: [
    definePage({
      path: "/applications",
      title: "Applications",
      parseSearch: parseListSearch,
      load: () => import("./list.tsx"),
    }),
    definePage({
      path: "/applications/new",
      title: "Create application",
      load: () => import("./create.tsx"),
    }),
    definePage({ path: "/applications/$id", title: "Application", load: () => import("./detail.tsx") }),
    definePage({
      path: "/applications/$id/environments/new",
      title: "Create environment",
      load: () => import("./environment-create.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment",
      title: "Environment",
      parseSearch: parseMetricsSearch,
      load: () => import("./environment.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/instances/new",
      title: "Create instance",
      load: () => import("./instance-create.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/processes/new",
      title: "Create background process",
      parseSearch: parseProcessSearch,
      load: () => import("./process-create.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/variables",
      title: "Variables of an environment",
      parseSearch: parseVariablesSearch,
      load: () => import("./variables.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/attachments",
      title: "Attachments of an environment",
      load: () => import("./attachments.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/commands",
      title: "Commands of an environment",
      parseSearch: parseCommandsSearch,
      load: () => import("./commands.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/commands/new",
      title: "Run a command",
      load: () => import("./command-create.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/commands/$command",
      title: "Command",
      load: () => import("./command.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/logs",
      title: "Log of an environment",
      parseSearch: parseLogSearch,
      load: () => import("./logs.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/settings",
      title: "Settings of an environment",
      load: () => import("./environment-settings.tsx"),
    }),
    definePage({
      path: "/applications/$id/environments/$environment/deployments/$deployment",
      title: "Deployment",
      load: () => import("./deployment.tsx"),
    }),
  ],
};
