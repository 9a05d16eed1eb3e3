// The filter of a command about events, from its options.
import { InvalidArgumentError } from "commander";
import type { EventFilter, PilviClient } from "../../sdk/index.ts";
import { resourceIdOf } from "../shared/resource-id.ts";

/** The options as they were given. */
export interface FilterOptions {
  resource?: string;
  type?: string;
  since?: string;
}

const UNITS_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `--since`: a time, or a span back from now. @returns ISO 8601. */
export function sinceTime(text: string): string {
  const [, amount, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  const atMs = unitMs === undefined ? Date.parse(text) : Date.now() - Number(amount) * unitMs;
  if (Number.isNaN(atMs))
    throw new InvalidArgumentError("It must be such as 2h, 7d or 2026-03-15T08:00:00Z.");
  return new Date(atMs).toISOString();
}

/** @throws CommandError when no resource has the name, or several have it. */
export async function filterOf(
  client: PilviClient,
  { resource, type, since }: FilterOptions,
): Promise<EventFilter> {
  return {
    // The server refuses an unknown type with a list of all types.
    ...(type !== undefined && { type: type.split(",") as NonNullable<EventFilter["type"]> }),
    ...(since !== undefined && { since }),
    ...(resource !== undefined && { resource: [await resourceIdOf(client, resource)] }),
  };
}
