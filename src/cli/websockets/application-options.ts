// The options of an application, for `create` and `update`.
import { type Command, Option } from "commander";
import type { WebsocketApplicationChange } from "../../sdk/index.ts";
import { settingOptions, settingValues } from "./application-settings.ts";

/** The events about presence; all other events are far more frequent. */
const USUAL_EVENTS = ["channel_occupied", "channel_vacated", "member_added", "member_removed"];

/** The values of those options. */
export interface ApplicationOptions {
  /** Those of `settingOptions`. */
  [name: string]: unknown;
  origin?: string[];
  /** False with `--no-origins`, else true. */
  origins: boolean;
  webhook?: string[];
  webhookEvents: string[];
  webhookBatch?: boolean;
  webhookPrefix?: string;
  webhookSuffix?: string;
  /** False with `--no-webhooks`, else true. */
  webhooks: boolean;
}

/** Adds the options. */
export function withApplicationOptions(command: Command): Command {
  command
    .option("--origin <origin>", "pages that may connect, such as https://example.com; can be repeated", more)
    .option("--no-origins", "every page may connect");
  for (const option of settingOptions) command.addOption(option);
  return command
    .option("--webhook <url>", "an address that receives events; can be repeated", more)
    .addOption(
      new Option("--webhook-events <types>", "the events that webhooks receive, with commas between")
        .argParser(words)
        .default(USUAL_EVENTS, USUAL_EVENTS.join(",")),
    )
    .option("--webhook-batch", "several events may come in one request")
    .option("--webhook-prefix <text>", "only of channels whose names begin like this")
    .option("--webhook-suffix <text>", "only of channels whose names end like this")
    .option("--no-webhooks", "send events to no address");
}

/** Ends the program as wrongly used when an option describes webhooks without a URL. */
export function requireWebhook(command: Command, { webhook }: ApplicationOptions): void {
  const said = ["webhookEvents", "webhookBatch", "webhookPrefix", "webhookSuffix"];
  if (webhook !== undefined || !said.some((name) => command.getOptionValueSource(name) === "cli")) return;
  command.error("error: --webhook-events, -batch, -prefix and -suffix need --webhook", { exitCode: 2 });
}

/** The changes of an application; an option that is not given is undefined. */
export function changeOf(options: ApplicationOptions): WebsocketApplicationChange {
  const members = {
    allowed_origins: options.origins ? options.origin : [],
    ...settingValues(options),
    webhooks: options.webhooks ? webhooksOf(options) : [],
  };
  const said = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as WebsocketApplicationChange;
}

function webhooksOf(options: ApplicationOptions) {
  const { webhook, webhookEvents, webhookBatch, webhookPrefix, webhookSuffix } = options;
  const filter = {
    ...(webhookPrefix !== undefined && { channel_name_starts_with: webhookPrefix }),
    ...(webhookSuffix !== undefined && { channel_name_ends_with: webhookSuffix }),
  };
  const isFiltered = Object.keys(filter).length > 0;
  return webhook?.map((url) => ({
    url,
    event_types: webhookEvents,
    batch_enabled: webhookBatch,
    filter: isFiltered ? filter : undefined,
  }));
}

function more(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}

function words(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}
