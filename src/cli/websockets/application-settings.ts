// The settings of an application that are a number or a switch: their options, and how they look to people.
import { Option } from "commander";
import type { WebsocketApplicationResource } from "../../sdk/index.ts";
import { wholeNumber } from "../options.ts";

type Attributes = WebsocketApplicationResource["attributes"];

/** The attributes with values of a type. */
type NamesOf<Value> = {
  [Name in keyof Attributes]-?: Attributes[Name] extends Value ? Name : never;
}[keyof Attributes];

interface Setting {
  name: NamesOf<number | boolean>;
  options: Option[];
  row(attributes: Attributes): string[];
}

const SETTINGS: Setting[] = [
  number("max_connections", "--max-connections <number>", "its own number out of the cluster's", {
    label: "Connections",
    text: String,
  }),
  onOff("client_events_enabled", "client-events", {
    on: "clients may send events to each other",
    off: "only the server's side may send events",
    label: "Client events",
    text: yesOrNo,
  }),
  onOff("subscription_count_enabled", "subscription-count", {
    on: "clients receive the numbers of subscribers of their channels",
    off: "clients receive no numbers of subscribers",
    label: "Counts",
    text: (isOn) => (isOn ? "subscribers receive their number" : "no"),
  }),
  number("ping_interval", "--ping-interval <seconds>", "after so much silence the server asks a client", {
    label: "Server asks",
    text: (seconds) => `after ${seconds} s of silence`,
  }),
  number(
    "activity_timeout",
    "--activity-timeout <seconds>",
    "after so much silence a client asks the server",
    {
      label: "Clients ask",
      text: (seconds) => `after ${seconds} s of silence`,
    },
  ),
  number("max_message_size", "--max-message-size <bytes>", "the longest message that a client may send", {
    label: "Messages",
    text: (bytes) => `of clients, up to ${bytes} bytes`,
  }),
];

/** The options, for `create` and `update`. */
export const settingOptions: Option[] = SETTINGS.flatMap(({ options }) => options);

/** Members of the API with the values of the options; an option that is not given is undefined. */
export function settingValues(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    SETTINGS.map(({ name, options: [option] }) => [name, option && options[option.attributeName()]]),
  );
}

/** Label and value of each setting. */
export function settingRows(attributes: Attributes): string[][] {
  return SETTINGS.map(({ row }) => row(attributes));
}

export function yesOrNo(isYes: boolean): string {
  return isYes ? "yes" : "no";
}

function number(
  name: NamesOf<number>,
  flags: string,
  help: string,
  { label, text }: { label: string; text: (value: number) => string },
): Setting {
  const options = [new Option(flags, help).argParser(wholeNumber)];
  return { name, options, row: ({ [name]: value }) => [label, text(value)] };
}

function onOff(
  name: NamesOf<boolean>,
  flag: string,
  { on, off, label, text }: { on: string; off: string; label: string; text: (isOn: boolean) => string },
): Setting {
  const options = [new Option(`--${flag}`, on), new Option(`--no-${flag}`, off)];
  return { name, options, row: ({ [name]: value }) => [label, text(value)] };
}
