// The webhooks of a WebSocket application, in the shape of the API and in that of the contract.
import { z } from "zod";
import {
  webhookEventTypes,
  type Webhook as WebhookContract,
} from "../../../contracts/websocket-application.ts";

const MAX_URL_LENGTH = 2048;
const MAX_CHANNEL_NAME_LENGTH = 200;

const channelNamePart = z.string().min(1).max(MAX_CHANNEL_NAME_LENGTH);

export const webhook = z
  .object({
    url: z
      .string()
      .max(MAX_URL_LENGTH)
      .refine(isWebhookUrl, "must be a URL that begins with http:// or https://, without a user name")
      .meta({ format: "uri", example: "https://example.com/webhooks" }),
    event_types: z
      .array(z.enum(webhookEventTypes))
      .min(1)
      .max(webhookEventTypes.length)
      .meta({
        description: "The types of events that the webhook receives.",
        example: ["channel_occupied", "channel_vacated"],
      }),
    batch_enabled: z.boolean().optional().meta({
      description: "Whether a request may have several events; each has one when left out.",
      example: true,
    }),
    filter: z
      .object({
        channel_name_starts_with: channelNamePart.optional().meta({ example: "presence-" }),
        channel_name_ends_with: channelNamePart.optional().meta({ example: "-room" }),
      })
      .optional()
      .meta({ description: "Only events of channels with such names." }),
  })
  .meta({ id: "WebsocketWebhook" });

/** An address that receives webhooks, in the shape of the API. */
export type Webhook = z.output<typeof webhook>;

/** A webhook as the realtime server has it. */
export function webhookOf({ url, event_types: eventTypes, batch_enabled, filter }: Webhook): WebhookContract {
  const each = { url, eventTypes, isBatched: batch_enabled ?? false };
  if (filter === undefined) return each;
  const { channel_name_starts_with: start, channel_name_ends_with: end } = filter;
  return {
    ...each,
    filter: {
      ...(start !== undefined && { channelNameStartsWith: start }),
      ...(end !== undefined && { channelNameEndsWith: end }),
    },
  };
}

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
