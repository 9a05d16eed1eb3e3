// The report of an installation on each engine.
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import { installHint, type OsRelease } from "./hints.ts";

/** The result for one engine. */
export interface EngineReport {
  name: ForeignEngine;
  state: "present" | "installed" | "failed";
  version?: string;
  /** Why it failed, as one sentence. */
  reason?: string;
  /** The one command that installs it on this system. */
  hint?: string;
}

export type InstallReport = EngineReport[];

/** The report of an engine that could not be installed. */
export function failedReport(name: ForeignEngine, reason: string, os: OsRelease): EngineReport {
  const hint = installHint(name, os);
  return { name, state: "failed", reason, ...(hint !== undefined && { hint }) };
}
