// `pilvi websockets apps`: the applications in a cluster.
import type { Command } from "commander";
import { writeList } from "../list-text.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { deleteOne, type DeleteOptions, requireAnswer, withConfirmation } from "../shared/delete.ts";
import { find } from "../shared/find.ts";
import { joined } from "../shared/list.ts";
import { cellsOf, columns, detailsText } from "./application-text.ts";
import { addAppCreate, addAppRotate, addAppUpdate } from "./apps-change.ts";
import { APPLICATION, CLUSTER } from "./arguments.ts";
import { waitUntilInForce } from "./change.ts";
import { applicationKind, clusterKind } from "./kind.ts";

/** Adds `apps` with its commands. */
export function addApps(websockets: Command, session: Session): void {
  const apps = websockets.command("apps").description("the applications in a cluster");
  addAppList(apps, session);
  addAppCreate(apps, session);
  addAppShow(apps, session);
  addAppUpdate(apps, session);
  addAppRotate(apps, session);
  addAppDelete(apps, session);
  withExamples(apps, [
    "pilvi websockets apps list chat",
    "pilvi websockets apps create chat website --origin https://example.com --wait",
  ]);
}

function addAppList(apps: Command, session: Session): void {
  const command = apps
    .command("list")
    .description("list the applications in a cluster")
    .argument("<cluster>", CLUSTER);
  withJson(command).action(async (cluster: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(clusterKind, client, cluster);
    const pages = await Array.fromAsync(client.websockets.applications(data.id).pages());
    if (json === true) return session.io.out(jsonText(joined(pages)));
    const found = pages.flatMap((page) => page.data);
    const empty = `There are no applications in it. Create one with: pilvi websockets apps create ${cluster} NAME\n`;
    if (found.length === 0) return session.io.out(empty);
    writeList(session.io, columns, found.map(cellsOf));
  });
  withExamples(command, ["pilvi websockets apps list chat"]);
}

function addAppShow(apps: Command, session: Session): void {
  const command = apps
    .command("show")
    .description("show an application and what client libraries are configured with")
    .argument("<cluster>", CLUSTER)
    .argument("<name-or-id>", APPLICATION);
  withJson(command).action(async (cluster: string, nameOrId: string, { json }: { json?: true }) => {
    const client = await session.client();
    const { data } = await find(clusterKind, client, cluster);
    const document = await find(applicationKind(data.id), client, nameOrId);
    session.io.out(json === true ? jsonText(document) : detailsText(document));
  });
  withExamples(command, [
    "pilvi websockets apps show chat main",
    "pilvi websockets apps show chat main --json | jq '.data.attributes | {app_id, key, secret}'",
  ]);
}

function addAppDelete(apps: Command, session: Session): void {
  const command = apps
    .command("delete")
    .description("delete an application and close its connections; the cluster stays")
    .argument("<cluster>", CLUSTER)
    .argument("<name-or-id>", APPLICATION);
  withConfirmation(command).action(async (cluster: string, nameOrId: string, options: DeleteOptions) => {
    requireAnswer(command, session, options);
    const client = await session.client();
    const { data } = await find(clusterKind, client, cluster);
    const request = { kind: applicationKind(data.id), client, nameOrId, options };
    await deleteOne(session, request, async () => await waitUntilInForce(session, client, data.id, options));
  });
  withExamples(command, ["pilvi websockets apps delete chat website --yes --wait"]);
}
