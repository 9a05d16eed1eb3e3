// The plan of an environment: the commands that make a release of a commit and run it, each with its origin.
import * as z from "zod/mini";

/** Languages and servers that a release can run with; `command` is whatever program the machine has. */
export const runtimeNames = ["node", "bun", "deno", "php", "python", "static", "command"] as const;

const runtimeNameSchema = z.enum(runtimeNames);

export type RuntimeName = z.infer<typeof runtimeNameSchema>;

/** The bounds of a plan, whatever a repository asks for. */
export const PLAN_BOUNDS = {
  /** Characters of a command, as of `build_command` in the API. */
  command: 2_000,
  /** Commands of a step. */
  commands: 50,
  /** Background processes. */
  processes: 20,
  /** Sentences about what the plan leaves out. */
  notes: 20,
  /** Characters of a note. */
  note: 500,
  /** Characters of a path below the source. */
  path: 1_000,
  /** Characters of the path of a public folder below the source. */
  served: 255,
  /** Runtimes beside the main runtime. */
  tools: 4,
} as const;

const command = z.string().check(z.minLength(1), z.maxLength(PLAN_BOUNDS.command));
const folder = z.string().check(z.maxLength(PLAN_BOUNDS.path));

/** The source of a field: `environment`, a file with a member, `detected: Next.js`, or `default`. */
const origin = z.string().check(z.minLength(1), z.maxLength(200));

const commandsSchema = z.strictObject({
  /** Lines for a shell; the first failure ends the step. Empty: nothing to do. */
  commands: z.array(command).check(z.maxLength(PLAN_BOUNDS.commands)),
  /** The working folder, relative to the top of the source; empty for the top itself. */
  directory: folder,
  origin,
});

/** A step of a plan. */
export type PlannedCommands = z.infer<typeof commandsSchema>;

const runtimeSchema = z.strictObject({
  name: runtimeNameSchema,
  /**
   * The version that the host offers for what was asked, or null for runtimes without versions. That of Node.js and PHP is
   * the least one: a build takes the newest of its line.
   */
  version: z.nullable(z.string().check(z.maxLength(40))),
  origin,
});

/** A runtime in one version. */
export type PlannedRuntime = z.infer<typeof runtimeSchema>;

const processSchema = z.strictObject({
  name: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/)),
  command,
  origin,
});

/** A background process. */
export type PlannedProcess = z.infer<typeof processSchema>;

export const servingModes = ["process", "php", "static"] as const;

/** What an environment can ask for, for paths without a file. */
export const servingFallbacks = ["index.html", "none"] as const;

const servingSchema = z.strictObject({
  /** `process` listens by itself; `php` and `static` have a server of Pilvi's before them. */
  mode: z.enum(servingModes),
  /** The public folder, relative to the root directory; null for `process`. */
  root: z.nullable(folder),
  /** Whether a path without a file is answered with `index.html`, for applications that route in the browser. */
  fallback: z.boolean(),
  origin,
});

/** The way in which an application answers requests. */
export type PlannedServing = z.infer<typeof servingSchema>;

export const planSchema = z.strictObject({
  version: z.literal(1),
  /** The folder of a monorepo; empty for the top of the source. */
  rootDirectory: folder,
  language: z.nullable(z.string().check(z.maxLength(40))),
  framework: z.nullable(z.string().check(z.maxLength(40))),
  runtime: runtimeSchema,
  /** Runtimes that the build needs beside the main runtime, such as Node.js for the assets of a PHP application. */
  tools: z.array(runtimeSchema).check(z.maxLength(PLAN_BOUNDS.tools)),
  /** Folders that come first in the PATH of every command, relative to the top of the source. */
  paths: z.array(folder).check(z.maxLength(8)),
  install: commandsSchema,
  build: commandsSchema,
  /** Runs once in the new release, before requests reach it. */
  deploy: commandsSchema,
  /** Starts the application; null where a server of Pilvi's serves it. */
  start: z.nullable(z.strictObject({ command, origin })),
  processes: z.array(processSchema).check(z.maxLength(PLAN_BOUNDS.processes)),
  serving: servingSchema,
  /** Null, as every application takes the port from `PORT`; kept for readers of plans. */
  port: z.strictObject({
    value: z.nullable(z.int().check(z.minimum(1), z.maximum(65_535))),
    origin,
  }),
  /** The path that has to answer below 500; null where an open port is enough. */
  healthPath: z.strictObject({
    value: z.nullable(z.string().check(z.regex(/^\/[!-~]*$/), z.maxLength(500))),
    origin,
  }),
  /** What the repository asks for and the plan leaves out, as sentences. */
  notes: z.array(z.string().check(z.maxLength(PLAN_BOUNDS.note))).check(z.maxLength(PLAN_BOUNDS.notes)),
});

/** A plan; a deployment keeps the plan that it was made with. */
export type Plan = z.infer<typeof planSchema>;

const versions = z.array(z.string().check(z.maxLength(40))).check(z.maxLength(50));

/** The versions of the runtimes that a host offers, each down to its patch; one of Node.js or PHP that is not fetched yet is the least that a fetch brings. */
export const availableRuntimesSchema = z.strictObject({
  node: versions,
  bun: versions,
  deno: versions,
  php: versions,
  python: versions,
});

export type AvailableRuntimes = z.infer<typeof availableRuntimesSchema>;

/** A runtime that has versions. */
export type VersionedRuntime = keyof AvailableRuntimes;
