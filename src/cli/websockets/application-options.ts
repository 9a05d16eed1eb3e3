// The options of an application, for `create` and `update`.
import { type Command, Option } from "commander";
import type { WebsocketApplicationChange } from "../../sdk/index.ts";
import { wholeNumber } from "../options.ts";

/** The events about presence; all other events are far more frequent. */
const USUAL_EVENTS = ["channel_occupied", "channel_vacated", "member_added", "member_removed"];

/** The values of those options. */
export interface ApplicationOptions {
  origin?: string[];
  /** False with `--no-origins`, else true. */
  origins: boolean;
  clientEvents?: boolean;
  subscriptionCount?: boolean;
  pingInterval?: number;
  activityTimeout?: number;
  maxMessageSize?: number;
  maxConnections?: number;
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
  return command
    .option("--origin <origin>", "pages that may connect, such as https://example.com; can be repeated", more)
    .option("--no-origins", "every page may connect")
    .option("--client-events", "clients may send events to each other")
    .option("--no-client-events", "only the server's side may send events")
    .option("--subscription-count", "clients are told how many subscribers their channels have")
    .option("--no-subscription-count", "clients are not told")
    .option("--ping-interval <seconds>", "after so much silence the server asks a client", wholeNumber)
    .option("--activity-timeout <seconds>", "after so much silence a client asks the server", wholeNumber)
    .option("--max-message-size <bytes>", "the longest message that a client may send", wholeNumber)
    .option("--max-connections <number>", "its own number out of the cluster's", wholeNumber)
    .option("--webhook <url>", "an address that is told of what happens; can be repeated", more)
    .addOption(
      new Option("--webhook-events <types>", "what those are told of, with commas between")
        .argParser(words)
        .default(USUAL_EVENTS, USUAL_EVENTS.join(",")),
    )
    .option("--webhook-batch", "several events may come in one request")
    .option("--webhook-prefix <text>", "only of channels whose names begin like this")
    .option("--webhook-suffix <text>", "only of channels whose names end like this")
    .option("--no-webhooks", "nobody is told");
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
    client_events_enabled: options.clientEvents,
    subscription_count_enabled: options.subscriptionCount,
    ping_interval: options.pingInterval,
    activity_timeout: options.activityTimeout,
    max_message_size: options.maxMessageSize,
    max_connections: options.maxConnections,
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
