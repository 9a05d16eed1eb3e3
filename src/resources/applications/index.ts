// The kind `applications`: applications, their environments, and the deployments of those.
import type { ResourceKind } from "../kind.ts";
import { reconcileCommand } from "./commands/reconciler.ts";
import { commandOperations } from "./commands/routes.ts";
import { backgroundProcessOperations } from "./background-processes/routes.ts";
import { deploymentOperations } from "./deployments/routes.ts";
import { reconcileDeployment } from "./deployments/reconciler.ts";
import { environmentOperations } from "./environments/routes.ts";
import { reconcileEnvironment } from "./environments/reconciler.ts";
import { reconcileApplication } from "./reconciler.ts";
import { instanceOperations } from "./instances/routes.ts";
import { applicationOperations } from "./routes.ts";
import { gitProtocol } from "./sources/git.ts";
import { sourceOperations } from "./sources/routes.ts";
import { COMMANDS, DEPLOYMENTS, ENVIRONMENTS } from "./work.ts";

export { followEdgeSettings } from "./edge-settings.ts";
export { attachedEnvironments } from "./environments/attached.ts";
export { deployAllLeftPushes } from "./sources/left-pushes.ts";

export const applications: ResourceKind = {
  name: "applications",
  operations: (context) => [
    ...applicationOperations(context),
    ...environmentOperations(context),
    ...deploymentOperations(context),
    ...commandOperations(context),
    ...instanceOperations(context),
    ...backgroundProcessOperations(context),
    ...sourceOperations(context),
  ],
  protocols: (context) => [gitProtocol(context)],
  reconcile: reconcileApplication,
  slowWork: {
    [ENVIRONMENTS]: reconcileEnvironment,
    [DEPLOYMENTS]: reconcileDeployment,
    [COMMANDS]: reconcileCommand,
  },
};
