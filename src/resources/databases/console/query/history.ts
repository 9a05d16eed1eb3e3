// The statements that a user ran in a cluster, kept in this browser alone, the latest first.
import { useState } from "react";

const MAX_ENTRIES = 50;
/** A longer statement is not kept. */
const MAX_CHARACTERS = 10_000;

interface HistoryEntry {
  statement: string;
  database: string;
  /** Milliseconds since 1970. */
  atMs: number;
}

export interface QueryHistory {
  entries: readonly HistoryEntry[];
  add(entry: HistoryEntry): void;
  clear(): void;
}

/** @param userId other users of this browser have histories of their own. */
export function useHistory(userId: string, clusterId: string): QueryHistory {
  const key = `pilvi-queries ${userId} ${clusterId}`;
  const [entries, setEntries] = useState<readonly HistoryEntry[]>(() => readEntries(key));
  const keep = (kept: readonly HistoryEntry[]) => {
    setEntries(kept);
    writeEntries(key, kept);
  };
  return {
    entries,
    add(entry) {
      if (entry.statement.length > MAX_CHARACTERS) return;
      const others = entries.filter(({ statement }) => statement !== entry.statement);
      keep([entry, ...others].slice(0, MAX_ENTRIES));
    },
    clear: () => keep([]),
  };
}

function readEntries(key: string): HistoryEntry[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isEntry).slice(0, MAX_ENTRIES) : [];
  } catch {
    // A browser may forbid storage.
    return [];
  }
}

function writeEntries(key: string, entries: readonly HistoryEntry[]): void {
  try {
    if (entries.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(entries));
  } catch {
    // They hold until the page is left.
  }
}

function isEntry(value: unknown): value is HistoryEntry {
  if (typeof value !== "object" || value === null) return false;
  const { statement, database, atMs } = value as Partial<Record<keyof HistoryEntry, unknown>>;
  return typeof statement === "string" && typeof database === "string" && typeof atMs === "number";
}
