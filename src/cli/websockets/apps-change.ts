// The commands that create and change applications: `create`, `update` and `rotate`.
import type { Command } from "commander";
import type { PilviClient, WebsocketApplicationDocument } from "../../sdk/index.ts";
import { withJson, withWait, wholeNumber, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { requireChange } from "../shared/update.ts";
import {
  type ApplicationOptions,
  changeOf,
  requireWebhook,
  withApplicationOptions,
} from "./application-options.ts";
import { detailsText } from "./application-text.ts";
import { APPLICATION, CLUSTER } from "./arguments.ts";
import { finishChange } from "./change.ts";
import { applicationKind, clusterKind } from "./kind.ts";

type FinishOptions = WaitOptions & { json?: true };

/** Adds `create`. */
export function addAppCreate(apps: Command, session: Session): void {
  const command = apps
    .command("create")
    .description("create an application in a cluster, with credentials of its own")
    .argument("<cluster>", CLUSTER)
    .argument("<name>", "3 to 40 lowercase letters, digits, underscores and hyphens; need not be unique");
  withApplicationOptions(command);
  withWait(withJson(command), "it can be used").action(
    async (cluster: string, name: string, options: ApplicationOptions & FinishOptions) => {
      requireWebhook(command, options);
      const client = await session.client();
      const { data } = await find(clusterKind, client, cluster);
      const body = { ...changeOf(options), name };
      const made = await client.websockets.applications(data.id).create(body);
      await finish(session, client, data.id, made, options);
    },
  );
  withExamples(command, [
    "pilvi websockets apps create chat website --origin https://example.com --wait",
    "pilvi websockets apps create chat website --webhook https://example.com/hooks --webhook-prefix presence-",
  ]);
}

/** Adds `update`. */
export function addAppUpdate(apps: Command, session: Session): void {
  const command = apps
    .command("update")
    .description("change an application, for open connections as well; what is not named stays")
    .argument("<cluster>", CLUSTER)
    .argument("<name-or-id>", APPLICATION)
    .option("--name <name>", "3 to 40 lowercase letters, digits, underscores and hyphens");
  withApplicationOptions(command);
  type UpdateOptions = ApplicationOptions & FinishOptions & { name?: string };
  withWait(withJson(command), "the change is in force").action(
    async (cluster: string, nameOrId: string, options: UpdateOptions) => {
      requireWebhook(command, options);
      const { name } = options;
      const change = { ...changeOf(options), ...(name !== undefined && { name }) };
      requireChange(command, change);
      const { client, clusterId, id } = await lookUp(session, cluster, nameOrId);
      const changed = await client.websockets.applications(clusterId).update(id, change);
      await finish(session, client, clusterId, changed, options);
    },
  );
  withExamples(command, [
    "pilvi websockets apps update chat main --no-client-events --wait",
    "pilvi websockets apps update chat main --origin https://example.com --origin '*.example.org'",
    "pilvi websockets apps update chat main --no-webhooks",
  ]);
}

/** Adds `rotate`. */
export function addAppRotate(apps: Command, session: Session): void {
  const command = apps
    .command("rotate")
    .description("give an application a new secret; the key stays, and so do its connections")
    .argument("<cluster>", CLUSTER)
    .argument("<name-or-id>", APPLICATION)
    .option("--grace <seconds>", "how long earlier secrets stay good (default: a day)", wholeNumber);
  withWait(withJson(command), "the new secret is in force").action(
    async (cluster: string, nameOrId: string, options: FinishOptions & { grace?: number }) => {
      const { grace } = options;
      const { client, clusterId, id } = await lookUp(session, cluster, nameOrId);
      const rotation = grace === undefined ? {} : { grace_seconds: grace };
      const changed = await client.websockets.applications(clusterId).rotateSecret(id, rotation);
      await finish(session, client, clusterId, changed, options);
    },
  );
  withExamples(command, [
    "pilvi websockets apps rotate chat main --grace 3600",
    "pilvi websockets apps rotate chat main --grace 0 --wait",
  ]);
}

async function lookUp(
  session: Session,
  cluster: string,
  nameOrId: string,
): Promise<{ client: PilviClient; clusterId: string; id: string }> {
  const client = await session.client();
  const clusterId = (await find(clusterKind, client, cluster)).data.id;
  const { data } = await find(applicationKind(clusterId), client, nameOrId);
  return { client, clusterId, id: data.id };
}

async function finish(
  session: Session,
  client: PilviClient,
  clusterId: string,
  { data: { id } }: WebsocketApplicationDocument,
  options: FinishOptions,
): Promise<void> {
  const kind = applicationKind(clusterId);
  await finishChange(session, { client, clusterId, options, id, kind, details: detailsText });
}
