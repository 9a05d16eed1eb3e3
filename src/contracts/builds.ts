// Builds and releases: a build turns a source into a release, which applications run; or it runs commands in a release.
import * as z from "zod/mini";
import {
  isolationSchema,
  MAX_VARIABLES,
  reachesSchema,
  runtimeSchema,
  variablesSchema,
} from "./application.ts";
import { safeIdSchema } from "./safe-id.ts";

/** The version of the files of a build and of a release. */
export const BUILD_VERSION = 1;

/** Output of a step beyond this is not kept, in bytes. */
export const MAX_STEP_OUTPUT = 1024 ** 2;

/** The most characters of a line of output, and of the spec before the source. */
export const MAX_LINE_CHARACTERS = 4_096;
export const MAX_SPEC_CHARACTERS = 1024 ** 2;

/** The most characters of a step's command: those of a customer's, and the lines that Pilvi puts before. */
const MAX_STEP_COMMAND = 200_000;

/** The most lines of a slice of a build's log. */
export const MAX_BUILD_LOG_LINES = 1_000;

const positive = z.int().check(z.positive());
const stepCommand = z.string().check(z.minLength(1), z.maxLength(MAX_STEP_COMMAND), z.regex(/^[^\0]+$/));
const stepName = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,31}$/));

export const buildSpecSchema = z.strictObject({
  /** The id of the deployment, and of the release that the build makes; or that of a run of commands in a release. */
  id: safeIdSchema,
  /**
   * The release of the environment that the commands run in, without a source and without a change to that release.
   * Left out for a build, which makes a release of its source.
   */
  release: z.exactOptional(safeIdSchema),
  /** Its user and its cache are those of the environment. */
  environment: safeIdSchema,
  /** The family of its organization, whose turn its build takes; left out in orders of an earlier Pilvi. */
  organization: z.exactOptional(safeIdSchema),
  runtime: runtimeSchema,
  /** Commands of the plan, one after the other; the first failure ends them. */
  steps: z.array(z.strictObject({ name: stepName, command: stepCommand })).check(z.maxLength(16)),
  variables: variablesSchema,
  /**
   * The folder that the release is going to serve, below its top, which the build has to make; left out for a release
   * that answers by itself.
   */
  served: z.exactOptional(z.string().check(z.minLength(1), z.maxLength(2_000), z.regex(/^(?!\/)[^\0]+$/))),
  /** Names of the variables whose values do not appear in the log. */
  secrets: z.array(z.string()).check(z.maxLength(MAX_VARIABLES)),
  /** None when left out. */
  reaches: z.exactOptional(reachesSchema),
  memoryBytes: positive,
  cpus: z.nullable(z.number().check(z.positive())),
  maxProcesses: z.int().check(z.minimum(8), z.maximum(8_192)),
  /** What source, release and cache may take on the disk together, in bytes; and the size that no file may exceed. */
  diskBytes: positive,
  /** Whether the only step, which runs in a release, has a terminal; its output is not kept then. */
  terminal: z.exactOptional(z.boolean()),
  /** How long all steps together may take. */
  deadlineSeconds: z.int().check(z.minimum(1), z.maximum(24 * 3600)),
});

/** A build as the control plane orders it. */
export type BuildSpec = z.infer<typeof buildSpecSchema>;

const buildStates = ["queued", "running", "succeeded", "failed", "cancelled"] as const;

const stepSchema = z.strictObject({
  name: stepName,
  startedAt: z.string(),
  endedAt: z.nullable(z.string()),
  /** Null while it runs, and for a step that was killed. */
  exitCode: z.nullable(z.int()),
});

/** A step of a build that has begun. */
export type BuildStep = z.infer<typeof stepSchema>;

export const buildSchema = z.strictObject({
  version: z.literal(BUILD_VERSION),
  id: safeIdSchema,
  environment: safeIdSchema,
  state: z.enum(buildStates),
  queuedAt: z.string(),
  startedAt: z.nullable(z.string()),
  endedAt: z.nullable(z.string()),
  /** The steps that have begun; the first of a build unpacks the source. */
  steps: z.array(stepSchema),
  /** Why it failed: a word for programs, and a sentence for people. */
  failure: z.nullable(
    z.strictObject({
      code: z.enum([
        "step",
        "deadline",
        "memory",
        "disk",
        "output",
        "interrupted",
        "runtime",
        "terminal",
        "internal",
      ]),
      message: z.string(),
    }),
  ),
  isolation: z.nullable(isolationSchema),
});

/** A build as it is now. */
export type Build = z.infer<typeof buildSchema>;

/** What the host keeps of a build. */
export const buildFileSchema = z.strictObject({ build: buildSchema, spec: buildSpecSchema });

export type BuildFile = z.infer<typeof buildFileSchema>;

export const releaseSchema = z.strictObject({
  version: z.literal(BUILD_VERSION),
  id: safeIdSchema,
  environment: safeIdSchema,
  runtime: runtimeSchema,
  builtAt: z.string(),
  /** What it took on the disk when it was made. */
  bytes: z.number(),
});

/** A release on the host, as its file `release.json` has it. */
export type Release = z.infer<typeof releaseSchema>;

export const buildLogLineSchema = z.strictObject({
  at: z.string(),
  step: stepName,
  text: z.string(),
  /** Whether the next line of the step belongs to the same line of its output, which is too long for one. */
  isOpen: z.exactOptional(z.literal(true)),
  /** Whether the text says that the further output of the step is not kept. */
  isCut: z.exactOptional(z.literal(true)),
});

/** A line of a build's log. */
export type BuildLogLine = z.infer<typeof buildLogLineSchema>;

/** A line of a log as text, which goes on with the next where the line of the output does. */
export function lineText({ text, isOpen }: Pick<BuildLogLine, "text" | "isOpen">): string {
  return isOpen === true ? text : `${text}\n`;
}

export const buildLogQuerySchema = z.strictObject({
  /** The position to go on from; 0 is the beginning. */
  after: z.int().check(z.minimum(0)),
  /** How long the answer is held while there is nothing further. */
  waitMs: z.exactOptional(z.int().check(z.minimum(0), z.maximum(30_000))),
});

/** Selects lines of a build's log. */
export type BuildLogQuery = z.infer<typeof buildLogQuerySchema>;

export const buildLogSliceSchema = z.strictObject({
  lines: z.array(buildLogLineSchema).check(z.maxLength(MAX_BUILD_LOG_LINES)),
  /** The position after these lines. */
  next: z.int(),
  /** Whether the build has ended and nothing follows. */
  isEnd: z.boolean(),
});

/** A part of a build's log, the oldest line first. */
export type BuildLogSlice = z.infer<typeof buildLogSliceSchema>;
