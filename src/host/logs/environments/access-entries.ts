// Makes entries of the lines that the edge writes about requests, of which clients choose parts.
import * as z from "zod/mini";
import type { NewEntry } from "./entry.ts";

const lineSchema = z.object({
  r: z.string(),
  s: z.number(),
  b: z.number(),
  d: z.number(),
  i: z.string(),
  m: z.string(),
  p: z.string(),
  u: z.string(),
});

/** The route of a line; null for a line in another form. Most lines of a flood are read no further. */
export function routeOf(line: string): string | null {
  return /^\{"r":"([a-z0-9-]{1,64})",/.exec(line)?.[1] ?? null;
}

/** The entry of a line; null for a line in another form. */
export function accessEntry(line: string): NewEntry | null {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return null;
  }
  const { success, data } = lineSchema.safeParse(said);
  if (!success) return null;
  const { s: status, b, d, i, m: method, p: path, u } = data;
  return {
    l: status >= 500 ? "error" : status >= 400 ? "warning" : "info",
    y: "access",
    m: `${method} ${path} ${status}`,
    x: {
      status,
      method,
      path,
      duration_ms: d < 0 ? null : d,
      bytes_sent: b,
      ip: i,
      user_agent: u === "" ? null : u,
      country: null,
    },
  };
}
