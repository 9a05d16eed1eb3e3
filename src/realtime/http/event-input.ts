// Reads the events that a body asks to publish, and names the fault of an event.
import { MAX_EVENT_DATA_BYTES, MAX_EVENT_NAME_LENGTH } from "../../contracts/channel-name.ts";
import { channelKindOf } from "../protocol/channel-name.ts";
import { HttpError } from "./answer.ts";
import { type Attribute, COUNTS, parseInfo } from "./info.ts";

/** A valid event, which may be published. */
export interface EventInput {
  name: string;
  data: string;
  /** Without repetition. */
  channels: string[];
  /** The connection that does not get the event. */
  socketId: string | undefined;
  info: ReadonlySet<Attribute>;
}

type Fields = Record<string, unknown>;

const MAX_CHANNELS = 100;
const MAX_BATCH = 10;

const SOCKET_ID = /^\d+\.\d+$/;

/**
 * The event of a request to publish a single event.
 * @throws HttpError 400 or 413, with the reason.
 */
export function readEvent(body: string): EventInput {
  const fields = readObject(body);
  return eventOf(fields, channelsOf(fields));
}

/**
 * The events of a batch, all of them valid.
 * @throws HttpError 400 or 413 when an event is not.
 */
export function readBatch(body: string): EventInput[] {
  const { batch } = readObject(body);
  if (batch === undefined) throw missing("batch");
  if (!Array.isArray(batch)) throw new HttpError(400, "batch must be a list of events");
  if (batch.length > MAX_BATCH) throw new HttpError(400, `Batch too large (${batch.length} > ${MAX_BATCH})`);
  return batch.map((item: unknown) => {
    if (!isFields(item)) throw new HttpError(400, "Each event of the batch must be an object");
    return eventOf(item, [channelOf(item)]);
  });
}

function eventOf(fields: Fields, channels: string[]): EventInput {
  const name = requiredText(fields, "name");
  if (name.length > MAX_EVENT_NAME_LENGTH) {
    throw new HttpError(
      400,
      `The name of this event exceeds the allowed maximum (${MAX_EVENT_NAME_LENGTH} characters)`,
    );
  }
  if (name === "") throw missing("name");
  const data = requiredText(fields, "data");
  if (isLargerThan(data, MAX_EVENT_DATA_BYTES)) {
    throw new HttpError(
      413,
      `The data content of this event exceeds the allowed maximum (${MAX_EVENT_DATA_BYTES} bytes)`,
    );
  }
  checkChannels(channels);
  return {
    name,
    data,
    channels,
    socketId: socketIdOf(fields),
    info: parseInfo(optionalText(fields, "info"), COUNTS),
  };
}

function channelsOf(fields: Fields): string[] {
  const { channels } = fields;
  if (channels === undefined || channels === null) return [channelOf(fields)];
  if (fields["channel"] !== undefined && fields["channel"] !== null) {
    throw new HttpError(400, "Either channel or channels must be given, not both");
  }
  if (!isTextList(channels)) throw new HttpError(400, "channels must be a list of strings");
  if (channels.length === 0) throw missing("channels");
  if (channels.length > MAX_CHANNELS) {
    throw new HttpError(400, `Too many channels (${channels.length} > ${MAX_CHANNELS})`);
  }
  return channels.length === 1 ? channels : [...new Set(channels)];
}

function channelOf(fields: Fields): string {
  const channel = requiredText(fields, "channel");
  if (channel === "") throw missing("channel");
  return channel;
}

/** Every encrypted channel has a key of its own, so an event for one channel cannot be read on another. */
function checkChannels(channels: string[]): void {
  for (const channel of channels) {
    const kind = channelKindOf(channel);
    if (kind === null) throw new HttpError(400, `Invalid channel name: ${JSON.stringify(channel)}`);
    if (kind.isEncrypted && channels.length > 1) {
      throw new HttpError(400, "An event for an encrypted channel cannot be sent to other channels too");
    }
  }
}

function socketIdOf(fields: Fields): string | undefined {
  const socketId = optionalText(fields, "socket_id");
  if (socketId !== undefined && !SOCKET_ID.test(socketId)) {
    throw new HttpError(400, `Invalid socket_id: ${JSON.stringify(socketId)}`);
  }
  return socketId;
}

function requiredText(fields: Fields, name: string): string {
  const value = optionalText(fields, name);
  if (value === undefined) throw missing(name);
  return value;
}

/** Some clients send null for a member that they leave out. */
function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new HttpError(400, `${name} must be a string`);
  return value;
}

function readObject(body: string): Fields {
  const value = readJson(body);
  if (!isFields(value)) throw new HttpError(400, "The body must be a JSON object");
  return value;
}

function readJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new HttpError(400, "The body is not valid JSON");
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Counts bytes of UTF-8 only when the number of characters does not decide yet. */
function isLargerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

function missing(name: string): HttpError {
  return new HttpError(400, `Missing required parameter: ${name}`);
}
