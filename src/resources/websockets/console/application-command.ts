// The command that creates a WebSocket application.
import type { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import type { Webhook } from "./webhooks-field.tsx";

/** The description of a new application. */
export type NewApplication = Parameters<ReturnType<typeof client.websockets.applications>["create"]>[0];

/**
 * The command for the body of a request; undefined when its webhooks differ in more than their address, because a
 * command describes them all at once.
 * @param id of the cluster, since several clusters may have the same name
 */
export function applicationCommand(id: string, body: Partial<NewApplication>): string | undefined {
  const { name, allowed_origins: origins, webhooks = [], ...settings } = body;
  const hooks = webhookOptions(webhooks);
  if (hooks === undefined) return undefined;
  const options = Object.entries(settings).map(([setting, value]) => optionOf(setting, value));
  return commandText(["websockets", "apps", "create", id, name ?? "NAME"], {
    origin: origins,
    ...Object.fromEntries(options),
    ...hooks,
  });
}

/** Options have the names of the API's members: `x_y` is `--x-y`, and the switch `z_enabled` is `--z` or `--no-z`. */
function optionOf(setting: string, value: unknown): [string, unknown] {
  const option = setting.replace(/_enabled$/, "").replaceAll("_", "-");
  return value === false ? [`no-${option}`, true] : [option, value];
}

function webhookOptions(webhooks: readonly Webhook[]): Record<string, unknown> | undefined {
  const [first, ...others] = webhooks.map(restOf);
  if (first === undefined) return {};
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) return undefined;
  return { webhook: webhooks.map(({ url }) => url), ...first };
}

/** What the options say of a webhook beside its address. */
function restOf({ event_types: types, batch_enabled: isBatched, filter }: Webhook) {
  return {
    "webhook-events": types.join(","),
    "webhook-batch": isBatched === true,
    "webhook-prefix": filter?.channel_name_starts_with,
    "webhook-suffix": filter?.channel_name_ends_with,
  };
}
