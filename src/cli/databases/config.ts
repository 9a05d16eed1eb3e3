// The options that make up the `config` of a cluster.
import { type Command, InvalidArgumentError } from "commander";
import { PilviError, type PilviClient } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { wholeNumber } from "../options.ts";

/** The parsed options. */
export interface ConfigOptions {
  config?: Record<string, unknown>;
  cuMin?: number;
  cuMax?: number;
  suspendSeconds?: number;
  size?: string;
  storage?: number;
}

/**
 * The config of the options; undefined without any of them, so that the server chooses all defaults. An option of its
 * own takes precedence over `--config`.
 */
export function configOf(options: ConfigOptions): Record<string, unknown> | undefined {
  const members = {
    cu_min: options.cuMin,
    cu_max: options.cuMax,
    suspend_seconds: options.suspendSeconds,
    size: options.size,
    storage: options.storage,
  };
  const named = Object.entries(members).filter(([, value]) => value !== undefined);
  if (named.length === 0) return options.config;
  return { ...options.config, ...Object.fromEntries(named) };
}

/**
 * Refuses names of `--config` that this type of cluster does not have, since the API ignores members that it does not
 * know. @throws CommandError that lists the names of the type.
 */
export async function requireKnownMembers(
  client: PilviClient,
  type: string,
  { config }: ConfigOptions,
): Promise<void> {
  if (config === undefined) return;
  const known = await membersOf(client, type);
  const unknown = Object.keys(config).find((name) => known?.includes(name) === false);
  if (known === undefined || unknown === undefined) return;
  const text = `The config of ${type} has no member named ${unknown}. Its members are ${known.join(", ")}.`;
  throw new CommandError(text, 2);
}

/** The members of a type's config; undefined for a type that the server refuses, or for a token that may not read. */
async function membersOf(client: PilviClient, type: string): Promise<string[] | undefined> {
  try {
    const { data } = await client.databases.types();
    return data.find((each) => each.type === type)?.config_schema.map(({ name }) => name);
  } catch (error) {
    if (error instanceof PilviError && error.status === 403) return undefined;
    throw error;
  }
}

/** Adds the options. */
export function withConfig(command: Command): Command {
  return command
    .option("--cu-min <units>", "serverless: the least computing power, from 0.25 to 10", number)
    .option("--cu-max <units>", "serverless: the most computing power", number)
    .option("--suspend-seconds <seconds>", "after how long without use it sleeps; 0 is never", wholeNumber)
    .option("--size <size>", "all other types: how much memory and processor it has")
    .option("--storage <gigabytes>", "all other types: how large its disk is", wholeNumber)
    .option("--config <name=value>", "any other member of the type's config; can be repeated", setting);
}

/** Adds a `--config name=value` to the settings before it. */
function setting(text: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
  const [, name, value] = /^([a-z_]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("It must be a name and a value, such as retention_days=7.");
  }
  return { ...earlier, [name]: valueOf(value) };
}

/** Reads an option's value that may be a fraction. */
function number(text: string): number {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError("It must be a number.");
  return Number(text);
}

/** Types are strict in the API, so a text that looks like a number, a truth value or null becomes that value. */
function valueOf(text: string): unknown {
  return /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text) ? JSON.parse(text) : text;
}
