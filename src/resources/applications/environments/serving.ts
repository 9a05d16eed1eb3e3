// How an environment is to be served and asked whether it is ready: the settings, their faults, and how answers show them.
import { z } from "zod";
import type { FieldErrors } from "../../../api/jsonapi/errors.ts";
import { type Plan, servingFallbacks, servingModes } from "../../../contracts/plan.ts";

const [MAX_HEALTH_PATH, MAX_ROOT] = [500, 200];

const healthPath = z
  .string()
  .max(MAX_HEALTH_PATH)
  .regex(/^(?:port|\/[!"$-~]*)$/, "is neither a path that begins with / nor the word port")
  .nullable()
  .meta({
    description:
      "The path that has to answer with a status below 500 before a release gets requests. The word `port` asks for an open port alone; null leaves it to the plan, which takes `/` for most applications.",
    example: "/health",
  });

const servingMode = z.enum(servingModes).nullable().meta({
  description:
    "`process`: the start command answers requests. `static`, `php`: a server of Pilvi's answers with the files of `serving_root`. Null leaves it to `serving_root`, or else to the plan.",
  example: "static",
});

const servingRoot = z
  .string()
  .max(MAX_ROOT)
  .regex(
    /^(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9._@+-][A-Za-z0-9._@+/ -]*$/,
    "is not a folder of the release, such as dist: it begins with no / and has no .. in it",
  )
  .nullable()
  .meta({
    description:
      "The public folder below the folder of the application, such as that which the build makes; `.` is all of it. Null leaves it to the plan.",
    example: "dist",
  });

const servingFallback = z.enum(servingFallbacks).nullable().meta({
  description:
    "What a path without a file gets on a site of files: `index.html`, for applications that route in the browser, or nothing but a 404. Null leaves it to the plan.",
  example: "index.html",
});

/** The settings as requests have them. */
export const servingSettings = {
  health_path: healthPath,
  serving_mode: servingMode,
  serving_root: servingRoot,
  serving_fallback: servingFallback,
};

/** The settings as a row has them. Absent is null: an environment has each from its first change on. */
export interface ServingSettings {
  health_path?: z.output<typeof healthPath> | undefined;
  serving_mode?: z.output<typeof servingMode> | undefined;
  serving_root?: z.output<typeof servingRoot> | undefined;
  serving_fallback?: z.output<typeof servingFallback> | undefined;
}

/** Settings that cannot hold together. */
export function servingFaults({
  serving_mode: mode,
  serving_root: root = null,
}: ServingSettings): FieldErrors {
  if (mode !== "process" || root === null) return {};
  return {
    serving_root: [
      "A process serves no folder: set serving_mode to static or null, or leave serving_root out.",
    ],
  };
}

/** The way of serving that answers show: as the settings have it, and else as the current release has it. */
export function shownServing(
  plan: Pick<Plan, "serving"> | null,
  { serving_mode: mode = null, serving_root: root = null }: ServingSettings,
): { mode: string; root: string | null } | null {
  const present = plan?.serving ?? null;
  if (mode === "process") return { mode, root: null };
  if (root !== null) return { mode: mode ?? (present?.mode === "php" ? "php" : "static"), root };
  if (mode !== null && present?.mode !== mode) return { mode, root: null };
  return present && { mode: present.mode, root: present.root };
}
