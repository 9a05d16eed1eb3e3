// Judges by a program's floors whether an engine has known holes or gets no fixes any more.
import type { EngineName } from "../../contracts/engine-names.ts";
import type { Floor } from "../foreign-program.ts";
import type { DistributionPackage } from "../installed-engine.ts";
import { compareVersions } from "../versions.ts";
import { compareDebianVersions } from "./debian-version.ts";
import { engineNamed } from "../registry.ts";
import { RELEASE_ENDS } from "./release-ends.ts";

/** The facts that an engine is judged by. */
export interface JudgedEngine {
  name: EngineName;
  version: string;
  origin: "store" | "system" | "pilvi";
  /** Only for an engine from a package that Pilvi knows. */
  package?: DistributionPackage;
}

/** The verdict on an engine's safety. */
interface Verdict {
  /** A sentence for anyone to read; null when nothing is amiss. */
  warning: string | null;
  /** Whether it has known holes, so that any other suitable engine is preferred. */
  isUnsafe: boolean;
}

const FINE: Verdict = { warning: null, isUnsafe: false };

/** @param today the day for which support is judged. */
export function verdictOn(engine: JudgedEngine, today = new Date()): Verdict {
  const lines = engineNamed(engine.name).program?.floors ?? [];
  const floor = lines.find(({ line }) => engine.version === line || engine.version.startsWith(`${line}.`));
  if (floor === undefined) return ofUnknownLine(engine, lines);
  const lowestPackage = floor.packages?.[engine.package?.release ?? ""];
  if (engine.package !== undefined && lowestPackage !== undefined) {
    return ofPackage(engine, engine.package, lowestPackage, today);
  }
  return ofUpstream(engine, floor, today);
}

function ofPackage(
  engine: JudgedEngine,
  { version, release }: DistributionPackage,
  lowest: string,
  today: Date,
): Verdict {
  if (compareDebianVersions(version, lowest) < 0) {
    return {
      warning: `${textOf(engine)} is the package ${version}, which lacks security fixes of ${lowest}.`,
      isUnsafe: true,
    };
  }
  return ofSupport(engine, RELEASE_ENDS[release] ?? null, today);
}

function ofUpstream(engine: JudgedEngine, { lowest, supportedUntil }: Floor, today: Date): Verdict {
  const ended = ofSupport(engine, supportedUntil, today);
  if (lowest === null || compareVersions(engine.version, lowest) >= 0) return ended;
  const end = ended.warning === null ? "" : ` and gets none any more since ${supportedUntil}`;
  return held(engine, `${textOf(engine)} lacks security fixes of ${lowest}${end}`);
}

function ofSupport(engine: JudgedEngine, until: string | null, today: Date): Verdict {
  if (until === null || today.toISOString().slice(0, 10) <= until) return FINE;
  return held(engine, `${textOf(engine)} gets no security fixes any more since ${until}`);
}

/** A line newer than all known lines counts as new, any other unknown line as given up. */
function ofUnknownLine(engine: JudgedEngine, lines: Floor[]): Verdict {
  const [newest] = lines;
  if (newest === undefined || compareVersions(engine.version, newest.line) > 0) return FINE;
  return held(engine, `${textOf(engine)} is of a version that gets no security fixes any more`);
}

/** Distributions patch in place, which the version of a program does not show. */
function held(engine: JudgedEngine, claim: string): Verdict {
  const isPatchable = engine.origin === "system" || engine.package !== undefined;
  if (!isPatchable) return { warning: `${claim}.`, isUnsafe: true };
  return { warning: `${claim}, unless the distribution has patched it.`, isUnsafe: false };
}

function textOf({ name, version }: JudgedEngine): string {
  return `${engineNamed(name).program?.label ?? name} ${version}`;
}
