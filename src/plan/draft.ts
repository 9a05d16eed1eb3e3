// A part of a plan from one origin; drafts are laid over each other in the order of precedence.
import type {
  PlannedCommands,
  PlannedProcess,
  PlannedRuntime,
  PlannedServing,
  RuntimeName,
} from "../contracts/plan.ts";

/** A value with its origin. */
export interface Sourced<T> {
  value: T;
  origin: string;
}

/** What one origin says; a member that is left out is left to the next origin. */
export interface Draft {
  install?: PlannedCommands;
  build?: PlannedCommands;
  deploy?: PlannedCommands;
  start?: Sourced<string>;
  processes?: PlannedProcess[];
  serving?: PlannedServing;
  /** Null where an open port is enough. */
  healthPath?: Sourced<string | null>;
  notes?: string[];
}

/** What was found out about a source by looking at its files. */
export interface Detection extends Draft {
  runtime: PlannedRuntime;
  tools?: PlannedRuntime[];
  paths?: string[];
  /** What an install that another origin names has to begin with, in the application's folder. */
  setup?: string[];
  language: string | null;
  framework: string | null;
}

/** The runtime that an origin demands, whatever the files look like. */
export type RuntimeDemand = Sourced<RuntimeName>;

/** The first draft that has the member. */
export function firstOf<K extends keyof Draft>(drafts: readonly Draft[], member: K): Draft[K] | undefined {
  return drafts.find((draft) => draft[member] !== undefined)?.[member];
}

/** All commands that the drafts name. */
export function commandsIn(drafts: readonly Draft[]): string[] {
  return drafts.flatMap(({ install, build, deploy, start, processes = [] }) => [
    ...[install, build, deploy].flatMap((step) => step?.commands ?? []),
    ...(start === undefined ? [] : [start.value]),
    ...processes.map(({ command }) => command),
  ]);
}

/** What leaves an install to the customer's build. */
export const OWN_INSTALL = "environment: build_command";

/** How the origin of a detected framework reads. */
export function detected(label: string): string {
  return `detected: ${label}`;
}
