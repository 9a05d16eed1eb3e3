// The operations of commands.
import { z } from "zod";
import { boundedPage } from "../../../api/jsonapi/answer-size.ts";
import { notFound } from "../../../api/jsonapi/errors.ts";
import { JSON_API, listDocument } from "../../../api/jsonapi/jsonapi.ts";
import { pageDocument, pageOf, pageQuery } from "../../../api/jsonapi/pagination.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { includedDeployments } from "../deployments/included.ts";
import { deploymentResource } from "../deployments/schema.ts";
import { includedEnvironments } from "../environments/attached.ts";
import { environmentResource } from "../environments/schema.ts";
import { findEnvironment } from "../environments/store.ts";
import { commandParams, environmentParams } from "../params.ts";
import { cancelCommand, createCommand } from "./create.ts";
import { outputOperation } from "./output.ts";
import { renderCommand } from "./render.ts";
import { commandFilter, commandResource, commandStatuses, newCommand } from "./schema.ts";
import { terminalOperation } from "./terminal.ts";
import { findCommand, listCommands, type CommandRow } from "./store.ts";

type CommandRoutes = Routes<CommandRow, typeof environmentParams, typeof commandParams>;

const TAG = "Commands";

const included = z.union([environmentResource, deploymentResource]);

/** The operations that run and read commands. */
export function commandOperations(context: KindContext): Operation[] {
  const routes = commandRoutes(context);
  return [
    routes.create({
      description:
        "Runs it once in the release that serves, in a sandbox of its own with the variables of the application, for an hour at most. The application itself may sleep.",
      successText: "The command, which is `pending`.",
      body: newCommand,
      create: (request) => createCommand(context, request),
    }),
    listOperation(context, routes),
    routes.show({ description: "One command, at once or, with `wait`, when it has reached a status." }),
    outputOperation(context),
    terminalOperation(context),
    routes.action({
      verb: "cancel",
      summary: "Cancel a command",
      description:
        "Ends its processes; it is `command.failure` a moment later. A command that has ended stays as it is.",
      successText: "The command.",
      act: async (request) => ({ row: await cancelCommand(context, request), isReplayed: false }),
    }),
  ];
}

/** How commands are found and rendered. */
function commandRoutes(context: KindContext): CommandRoutes {
  const { db } = context;
  return new Routes({
    tag: TAG,
    kind: KIND,
    idNoun: "Command",
    noun: "command",
    shortNoun: "command",
    phrases: { one: "a command", many: "the commands of an environment" },
    collection: { path: "/environments/:id/commands", params: environmentParams },
    item: { path: "/commands/:id", params: commandParams, idOf: ({ id }) => id },
    schema: commandResource,
    relatedSchema: included,
    includes: ["environment", "deployment"],
    statuses: commandStatuses,
    isFinal: (status) => status === "command.success" || status === "command.failure",
    find: (organizationId, { id }) => findCommand(db, organizationId, id),
    render: renderCommand,
    async *related(wanted, rows, { principal }) {
      const environments = wanted.includes("environment") ? rows.map((row) => row.environmentId) : [];
      const deployments = wanted.includes("deployment") ? rows.map((row) => row.deploymentId) : [];
      yield* includedEnvironments(context, principal, environments);
      yield* includedDeployments(db, deployments);
    },
  });
}

function listOperation({ db }: KindContext, routes: CommandRoutes): Operation {
  return operation({
    method: "GET",
    path: "/environments/:id/commands",
    operationId: "listCommands",
    tag: TAG,
    summary: "List the commands of an environment",
    description: "The environment's latest 100 commands that ended, and those that run, the newest first.",
    ability: `${KIND}:read`,
    params: environmentParams,
    query: z.object({ ...pageQuery, ...commandFilter }),
    includes: ["environment", "deployment"],
    success: {
      status: 200,
      description: "A page of commands.",
      schema: listDocument(commandResource, included),
      contentType: JSON_API,
    },
    async handle(request) {
      const { principal, params, query, url, includes } = request;
      const environment = await findEnvironment(db, principal.organizationId, params.id);
      if (environment === undefined) throw notFound("environment");
      const page = pageOf(query);
      const { rows, total } = await listCommands(db, {
        environmentId: environment.id,
        statuses: query["filter[status]"] ?? [],
        text: query["filter[command]"],
        page,
      });
      const data = boundedPage(rows.values().map((row) => renderCommand(row, principal)));
      const document = pageDocument(url, page, total, data);
      return { document: { ...document, ...(await routes.included(includes, rows, request)) } };
    },
  });
}
