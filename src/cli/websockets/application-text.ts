// How the applications of a WebSocket cluster look to people.
import type { WebsocketApplicationDocument, WebsocketApplicationResource } from "../../sdk/index.ts";
import { table } from "../table.ts";
import { settingRows, yesOrNo } from "./application-settings.ts";
import type { Credentials } from "./signatures.ts";

type Attributes = WebsocketApplicationResource["attributes"];

export const columns = ["NAME", "APP ID", "KEY", "CONNECTIONS", "CLIENT EVENTS", "ORIGINS", "WEBHOOKS", "ID"];

/** The cells of a list. */
export function cellsOf(application: WebsocketApplicationResource): string[] {
  const { attributes, id } = application;
  return [
    attributes.name,
    attributes.app_id,
    credentialsOf(application)?.key ?? "hidden",
    String(attributes.max_connections),
    yesOrNo(attributes.client_events_enabled),
    originsText(attributes),
    String(attributes.webhooks.length),
    id,
  ];
}

/** Name and value of each property of an application, one a line. */
export function detailsText({ data, included = [] }: WebsocketApplicationDocument): string {
  const { attributes, meta } = data;
  const [cluster] = included;
  return table([
    ["Name", attributes.name],
    ["Id", data.id],
    ["Created", attributes.created_at],
    ...(cluster === undefined ? [] : [["Host", cluster.attributes.hostname]]),
    ...(cluster === undefined ? [] : [["Port", String(cluster.meta.port)]]),
    ...credentialRows(data),
    ...meta.former_secrets.map(({ expires_at: end }) => ["Former secret", `good until ${end}`]),
    ["Origins", originsText(attributes)],
    ...settingRows(attributes),
    ...attributes.webhooks.map((webhook) => ["Webhook", webhookText(webhook)]),
  ]);
}

/** The settings of client libraries. */
export function credentialRows(application: WebsocketApplicationResource): string[][] {
  const credentials = credentialsOf(application);
  const id = ["App id", application.attributes.app_id];
  if (credentials === undefined) {
    return [id, ["Secret", "hidden, this token may not see it (ability websockets:credentials)"]];
  }
  return [id, ["Key", credentials.key], ["Secret", credentials.secret]];
}

/** @returns undefined when the token may not see the credentials. */
export function credentialsOf({ attributes }: WebsocketApplicationResource): Credentials | undefined {
  const { "": credentials } = attributes;
  return Array.isArray(credentials) ? undefined : credentials;
}

function originsText({ allowed_origins: origins }: Attributes): string {
  return origins.length === 0 ? "all" : origins.join(", ");
}

function webhookText(webhook: Attributes["webhooks"][number]): string {
  const { url, event_types: types, batch_enabled: isBatched, filter } = webhook;
  const { channel_name_starts_with: start, channel_name_ends_with: end } = filter ?? {};
  const names = [
    ...(start === undefined ? [] : [`beginning with ${start}`]),
    ...(end === undefined ? [] : [`ending with ${end}`]),
  ];
  const channels = names.length === 0 ? "" : ` (channels ${names.join(" and ")})`;
  return `${url}: ${types.join(", ")}${channels}${isBatched === true ? ", in batches" : ""}`;
}
