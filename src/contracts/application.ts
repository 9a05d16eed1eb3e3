// What applications run on and with: runtimes, variables and levels of isolation, in specs of instances and of builds.
import * as z from "zod/mini";
import { safeIdSchema } from "./safe-id.ts";

/** The most characters of a command, and of all names and values of the variables together. */
const [MAX_COMMAND, MAX_VARIABLES_TEXT] = [8_192, 256 * 1024];

/** The most variables: the 500 of a customer's, and those of Pilvi, of frameworks and of all that is attached. */
export const MAX_VARIABLES = 640;

/** A path inside a release, without a step out of it. The root directory is in it twice for builds of Next.js. */
const innerPath = z
  .string()
  .check(z.maxLength(1_024), z.regex(/^(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9._@+-][A-Za-z0-9._@+/ -]*$/));

const major = z.string().check(z.regex(/^\d{1,3}$/));

/** Folders of the release; what a running application writes to them ends with its process. */
const folders = z.array(innerPath).check(z.maxLength(8));

/** What applications in JavaScript write to; all is left out where they write to nothing. */
const written = {
  /** Folders that begin with copies of the files of the release. */
  writable: z.exactOptional(folders),
  /** Folders that get new files, beside those of the release, which cannot be changed. */
  growing: z.exactOptional(folders),
};

export const runtimeSchema = z.discriminatedUnion("name", [
  /** The version is the major one, such as `22`. */
  z.strictObject({ name: z.literal("node"), version: major, ...written }),
  z.strictObject({
    name: z.literal("bun"),
    /** The major version of Node.js beside it, for npm; left out without. */
    node: z.exactOptional(major),
    ...written,
  }),
  /** Pilvi's own pinned Deno. */
  z.strictObject({ name: z.literal("deno") }),
  z.strictObject({
    name: z.literal("php"),
    /** The minor version, such as `8.2`. */
    version: z.string().check(z.regex(/^\d{1,2}\.\d{1,2}$/)),
    /** The public folder that a web server serves with php-fpm; null where a command serves or builds. */
    folder: z.nullable(innerPath),
    /** Folders of the release that a running application can write to; what it writes ends with its process. */
    writable: folders,
    /** The major version of Node.js for a build of assets; null without. */
    node: z.nullable(major),
  }),
  /** The machine's Python, in the version that it has. */
  z.strictObject({
    name: z.literal("python"),
    /** The major version of Node.js beside it, for assets; null is Bun in its place; left out without. */
    node: z.exactOptional(z.nullable(major)),
  }),
  z.strictObject({
    name: z.literal("static"),
    /** The folder of the release that is served; `.` is all of it. */
    folder: innerPath,
    /** The file of that folder that answers for paths without a file; null answers 404. */
    fallback: z.nullable(innerPath),
  }),
  /** The programs of the machine alone. */
  z.strictObject({ name: z.literal("system") }),
]);

/** What the commands of an application or a build run on. */
export type Runtime = z.infer<typeof runtimeSchema>;

/** A command of the customer's for `/bin/sh`, which runs inside the sandbox. */
export const commandSchema = z.string().check(z.minLength(1), z.maxLength(MAX_COMMAND), z.regex(/^[^\0]+$/));

/** The name of a variable. */
export const variableNameSchema = z.string().check(z.maxLength(255), z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/));

/** Variables by name, in clear. */
export const variablesSchema = z.record(variableNameSchema, z.string().check(z.regex(/^[^\0]*$/))).check(
  z.refine((variables) => Object.keys(variables).length <= MAX_VARIABLES),
  z.refine((variables) => Object.entries(variables).flat().join("").length <= MAX_VARIABLES_TEXT),
);

/** Earlier releases wrote ports. */
const formerReach = z.int().check(z.minimum(1), z.maximum(65_535));

/**
 * Instances of this machine whose ports customers' processes reach beside their own: those of what is attached to them.
 * They are named by their ids, since the port of a deleted instance may pass to another customer's.
 */
export const reachesSchema = z.array(z.union([safeIdSchema, formerReach])).check(z.maxLength(16));

/** An instance that a process reaches: its id, or its port where an earlier release has written that. */
export type Reach = z.infer<typeof reachesSchema>[number];

export const isolationSchema = z.enum(["bubblewrap", "landlock", "none"]);

/**
 * What separates a customer's processes from the machine, beside users and cgroups: namespaces with a view of their own
 * of the file system, rules of the kernel for paths, or nothing.
 */
export type Isolation = z.infer<typeof isolationSchema>;
