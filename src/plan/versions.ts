// From the version that a repository asks for to a version that the host has.
import type { AvailableRuntimes, PlannedRuntime, VersionedRuntime } from "../contracts/plan.ts";
import { PlanRefusal, quoted } from "./faults.ts";
import { listText } from "./texts.ts";

/** A version that was asked for, and where. */
export interface VersionRequest {
  range: string;
  origin: string;
}

export const RUNTIME_LABELS: Record<VersionedRuntime, string> = {
  node: "Node.js",
  bun: "Bun",
  deno: "Deno",
  php: "PHP",
  python: "Python",
};

/** How to ask for another version, for refusals. */
const REMEDIES: Record<VersionedRuntime, string> = {
  node: "set node_version, or change the file",
  bun: "change the file",
  deno: "change the file",
  php: "set php_version, or change the file",
  python: "change the file",
};

/** The names of Node.js's release lines, as .nvmrc files have them. */
const NODE_LINES = new Map(Object.entries({ hydrogen: "18", iron: "20", jod: "22", krypton: "24" }));

/** Words that leave the choice to the platform. */
const ANY = new Set([
  "",
  "*",
  "x",
  "latest",
  "node",
  "stable",
  "current",
  "lts",
  "lts/*",
  "lts/-0",
  "system",
]);

const MAX_RANGE_LENGTH = 100;

/** One comparison; `Bun.semver` counts what it cannot read as everything, so all is checked beforehand. */
const COMPARISON = /^(?:[<>]=?|=|\^|~)?\d{1,5}(?:\.(?:\d{1,5}|[x*])){0,2}(?:-[\w.]{1,20})?$/;

/**
 * The newest version that the host has of what was asked for.
 * @param request null for any version.
 * @throws PlanRefusal when the host has no such version, or when the request is no version.
 */
export function resolveVersion(
  name: VersionedRuntime,
  request: VersionRequest | null,
  available: AvailableRuntimes,
): PlannedRuntime {
  const versions = [...available[name]].sort((a, b) => Bun.semver.order(b, a));
  const label = RUNTIME_LABELS[name];
  if (versions.length === 0) throw new PlanRefusal(`${label} cannot be had on this host.`);
  const range = request === null ? "*" : rangeOf(name, request);
  const newest = (wanted: string) =>
    versions.find((version) => wanted === "*" || Bun.semver.satisfies(version, wanted));
  const found = newest(range);
  if (found !== undefined) return { name, version: found, origin: request?.origin ?? "default" };
  const line = lineOf(name, range);
  const nearest = line === null ? undefined : newest(line);
  if (nearest !== undefined) return { name, version: nearest, origin: `${request?.origin}: ${range}` };
  throw new PlanRefusal(
    `${request?.origin ?? "The default"} asks for ${label} ${quoted(request?.range ?? "")}; this host has ${listText(versions)}. To use one of them, ${REMEDIES[name]}.`,
  );
}

/**
 * The versions that may take the place of a single one, or of a minor version, as files often pin what was on the machine of their author: those
 * of the same major version of Node.js, Bun and Deno, and of the same minor version of PHP and Python. Null for a range.
 */
function lineOf(name: VersionedRuntime, range: string): string | null {
  const [, major, minor] = /^=?(\d+)\.(\d+)(?:\.\d+)?$/.exec(range) ?? [];
  if (major === undefined) return null;
  return name === "php" || name === "python" ? `~${major}.${minor}` : `^${major}`;
}

/** The range in the words of npm. @throws PlanRefusal when it is none. */
function rangeOf(name: VersionedRuntime, { range, origin }: VersionRequest): string {
  const text = range.trim().toLowerCase();
  if (ANY.has(text)) return "*";
  const line = name === "node" ? NODE_LINES.get(text.replace(/^lts\//, "")) : undefined;
  if (line !== undefined) return line;
  const parts =
    text.length > MAX_RANGE_LENGTH ? [] : text.split(/\s*\|\|?\s*/).map((part) => conjunction(name, part));
  if (parts.length > 0 && parts.every((part) => part !== null)) return parts.join(" || ");
  throw new PlanRefusal(
    `${origin} asks for ${RUNTIME_LABELS[name]} ${quoted(range)}, which Pilvi does not understand as a version; write it as 22, ^22.1 or >=20 <23.`,
  );
}

/** Comparisons that all hold, in the words of npm; null when one is none. */
function conjunction(name: VersionedRuntime, text: string): string | null {
  const hyphen = /^(\S+) - (\S+)$/.exec(text);
  if (hyphen !== null) return conjunction(name, `>=${hyphen[1]} <=${hyphen[2]}`);
  const words = text
    .replaceAll(/(~=|==|[<>]=?|!=|[=^~])\s+/g, "$1")
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  // Exclusions narrow a range by single versions; the newest version that is left is right nearly always.
  const comparisons = words.filter((word) => !word.startsWith("!=")).map((word) => comparison(name, word));
  return comparisons.length > 0 && comparisons.every((each) => COMPARISON.test(each))
    ? comparisons.join(" ")
    : null;
}

/** Python's and Composer's operators in the words of npm. */
function comparison(name: VersionedRuntime, word: string): string {
  const plain = word.replace(/^(\D*?)v(?=\d)/, "$1").replace(/@(?:stable|dev)$/, "");
  const compatible = /^~=(\d+)\.(\d+)(\.\d+)?$/.exec(plain);
  if (compatible !== null) {
    const [, major, minor, patch] = compatible;
    return patch === undefined ? `^${major}.${minor}` : `~${major}.${minor}${patch}`;
  }
  const equal = plain.replace(/^==/, "");
  return name === "php" ? equal.replace(/^~(\d+\.\d+)$/, "^$1") : equal;
}
