// `pilvi attach` and `pilvi detach`: the database, the cache and the WebSocket application of an environment.
import type { Command } from "commander";
import type { EnvironmentChange, PilviClient, SingleDocument } from "../../sdk/index.ts";
import { cacheKind } from "../caches/kind.ts";
import { databaseKind, clusterKind as databaseClusterKind } from "../databases/kind.ts";
import { CommandError } from "../failure.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import type { Kind, Named } from "../shared/kind.ts";
import { requireChange } from "../shared/update.ts";
import { applicationKind as websocketApplicationKind, clusterKind } from "../websockets/kind.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";

interface AttachOptions extends TargetOptions {
  database?: string;
  cache?: string;
  websocket?: string;
  json?: true;
}

interface DetachOptions extends TargetOptions {
  database?: true;
  cache?: true;
  websocket?: true;
  json?: true;
}

type Attachments = Pick<EnvironmentChange, "database_schema_id" | "cache_id" | "websocket_application_id">;

/** Adds `attach`. */
export function addAttach(program: Command, session: Session): void {
  const command = program
    .command("attach")
    .description("give the linked environment the address and credentials of resources")
    .option("--database <name>", "CLUSTER/DATABASE, an id, or a cluster that has only one")
    .option("--cache <name>", "the id or the name of a cache")
    .option("--websocket <name>", "CLUSTER/APPLICATION, an id, or a cluster that has only one");
  withJson(withEnvironment(command)).action(async (options: AttachOptions) => {
    const { database, cache, websocket } = options;
    requireChange(command, { database, cache, websocket });
    const target = await targetOf(session, options);
    await changeAttachments(session, target, await attachmentsOf(target.client, options), options.json);
  });
  withExamples(command, [
    "pilvi attach --database orders --cache sessions",
    "pilvi attach --database orders/reports --environment staging",
    "pilvi attach --websocket chat/main",
  ]);
}

/** Adds `detach`. */
export function addDetach(program: Command, session: Session): void {
  const command = program
    .command("detach")
    .description("take resources away from the linked environment; the resources stay")
    .option("--database", "its database")
    .option("--cache", "its cache")
    .option("--websocket", "its WebSocket application");
  withJson(withEnvironment(command)).action(async (options: DetachOptions) => {
    const { database, cache, websocket } = options;
    requireChange(command, { database, cache, websocket });
    const change: Attachments = {
      ...(database === true && { database_schema_id: null }),
      ...(cache === true && { cache_id: null }),
      ...(websocket === true && { websocket_application_id: null }),
    };
    await changeAttachments(session, await targetOf(session, options), change, options.json);
  });
  withExamples(command, ["pilvi detach --cache", "pilvi detach --database --environment staging"]);
}

async function changeAttachments(
  { io }: Session,
  { environments, environment }: Target,
  change: Attachments,
  json: true | undefined,
): Promise<void> {
  const document = await environments.update(environment.id, change);
  if (json === true) return io.out(jsonText(document));
  const { database, cache, websocketApplication } = document.data.relationships;
  const attached = [database.data, cache.data, websocketApplication.data].flatMap((each) => each?.id ?? []);
  const { name } = environment.attributes;
  io.out(`${name} uses ${attached.length === 0 ? "no resources" : attached.join(", ")}.\n`);
}

async function attachmentsOf(
  client: PilviClient,
  { database, cache, websocket }: AttachOptions,
): Promise<Attachments> {
  return {
    ...(database !== undefined && { database_schema_id: await databaseIdOf(client, database) }),
    ...(cache !== undefined && { cache_id: (await find(cacheKind, client, cache)).data.id }),
    ...(websocket !== undefined && { websocket_application_id: await websocketIdOf(client, websocket) }),
  };
}

async function databaseIdOf(client: PilviClient, text: string): Promise<string> {
  if (databaseKind("").idPattern.test(text)) return text;
  const { cluster, member } = parted(text);
  const { data } = await find(databaseClusterKind, client, cluster);
  return await memberIdOf(client, databaseKind(data.id), { cluster, member, option: "--database" });
}

async function websocketIdOf(client: PilviClient, text: string): Promise<string> {
  if (websocketApplicationKind("").idPattern.test(text)) return text;
  const { cluster, member } = parted(text);
  const { data } = await find(clusterKind, client, cluster);
  const kind = websocketApplicationKind(data.id);
  return await memberIdOf(client, kind, { cluster, member, option: "--websocket" });
}

/** Names of clusters have no slashes. */
function parted(text: string): { cluster: string; member: string | undefined } {
  const at = text.indexOf("/");
  return at === -1
    ? { cluster: text, member: undefined }
    : { cluster: text.slice(0, at), member: text.slice(at + 1) };
}

/** The named member of a cluster, or its only one. @throws CommandError when it has none or several. */
async function memberIdOf<Document extends SingleDocument<Named>>(
  client: PilviClient,
  kind: Kind<Document>,
  { cluster, member, option }: { cluster: string; member: string | undefined; option: string },
): Promise<string> {
  if (member !== undefined) return (await find(kind, client, member)).data.id;
  const found: Named[] = [];
  for await (const { data } of kind.requests(client).pages()) found.push(...data);
  const [only, ...others] = found;
  if (only === undefined) throw new CommandError(`${cluster} has no ${kind.noun}.`);
  if (others.length === 0) return only.id;
  const choices = found.map(({ attributes }) => `  ${option} ${cluster}/${attributes.name}`).join("\n");
  throw new CommandError(`${cluster} has ${found.length} ${kind.plural}. Choose one:\n${choices}`);
}
