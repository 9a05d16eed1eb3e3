// What the address of a log's page holds: a text, and a range of time.
import { type RawSearch, textIn } from "../page.tsx";

/** The ranges of time; null has no beginning. */
export const LOG_RANGES = {
  latest: { label: "Latest lines", minutes: null },
  "15m": { label: "Last 15 minutes", minutes: 15 },
  "1h": { label: "Last hour", minutes: 60 },
  "24h": { label: "Last 24 hours", minutes: 24 * 60 },
  all: { label: "All that is kept", minutes: null },
} as const;

/** The types of the log of an environment; other logs have lines of their engine alone. */
export const LOG_TYPES = {
  all: "All types",
  application: "Application",
  exception: "Exceptions",
  access: "Requests",
  system: "System",
} as const;

export interface LogSearch {
  type: keyof typeof LOG_TYPES | undefined;
  q: string | undefined;
  range: keyof typeof LOG_RANGES | undefined;
}

export function parseLogSearch(raw: RawSearch): LogSearch {
  const range = textIn(raw, "range");
  const type = textIn(raw, "type");
  return {
    type: isType(type) ? type : undefined,
    q: textIn(raw, "q"),
    range: isRange(range) ? range : undefined,
  };
}

function isRange(text: string | undefined): text is keyof typeof LOG_RANGES {
  return text !== undefined && Object.hasOwn(LOG_RANGES, text);
}

function isType(text: string | undefined): text is keyof typeof LOG_TYPES {
  return text !== undefined && Object.hasOwn(LOG_TYPES, text);
}
