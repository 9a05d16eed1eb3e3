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

/** The beginning of a line, which no client chooses. An edge of an earlier release does not say how long it sent. */
const HEAD = /^\{"r":"([a-z0-9-]{1,64})","s":(-?\d+),"b":\d+,"d":(-?\d+),(?:"t":(-?\d+),)?/;

interface AccessHead {
  route: string;
  /** The time until the answer began, however long it was sent; null without an answer. */
  answeredMs: number | null;
}

/** The head of a line; null for a line in another form. Most lines of a flood are read no further. */
export function accessHead(line: string): AccessHead | null {
  const [, route, status, totalMs, sentMs = "0"] = HEAD.exec(line) ?? [];
  if (route === undefined) return null;
  const isTimed = Number(status) > 0 && Number(totalMs) >= 0;
  return { route, answeredMs: isTimed ? Number(totalMs) - Math.max(0, Number(sentMs)) : null };
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
