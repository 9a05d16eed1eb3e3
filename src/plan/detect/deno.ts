// Deno applications.
import * as z from "zod/mini";
import { checkCommand, installThemselves } from "../commands.ts";
import { detected, OWN_INSTALL, type Detection } from "../draft.ts";
import { PlanRefusal } from "../faults.ts";
import type { Folder } from "../folder.ts";
import { readJsonWithComments } from "../json.ts";
import { fileVersion } from "../tool-versions.ts";
import { resolveVersion } from "../versions.ts";
import type { DetectionInput } from "./node.ts";

const denoSchema = z.object({
  tasks: z.optional(z.record(z.string(), z.unknown())),
  imports: z.optional(z.record(z.string(), z.unknown())),
});

/** What a server needs; a task of the repository's own asks for what it needs itself. */
const PERMISSIONS = "--allow-net --allow-env --allow-read";

const PROGRAMS = ["main.ts", "server.ts", "mod.ts", "src/main.ts", "main.js", "server.js"];

const FRAMEWORKS: [label: string, sign: RegExp][] = [
  ["Fresh", /^(?:jsr:)?@fresh\/core|\$fresh\//],
  ["Hono", /^(?:jsr:@hono\/hono|npm:hono)/],
  ["Oak", /^(?:jsr:)?@oak\/oak/],
];

/** Whether a folder looks like an application for Deno. */
export function isDeno(folder: Folder): boolean {
  return folder.firstOf("deno.json", "deno.jsonc", "deno.lock") !== undefined;
}

/** @throws PlanRefusal when nothing can be started. */
export function detectDeno(input: DetectionInput): Detection {
  const [folder] = input.folders;
  const file = folder.firstOf("deno.json", "deno.jsonc");
  const content = readJsonWithComments(denoSchema, file ?? "deno.json", (file && folder.text(file)) ?? "{}");
  const tasks = new Map(Object.entries(content.tasks ?? {}));
  const main = folder.firstOf(...PROGRAMS);
  const task = tasks.get("start");
  const start =
    task === undefined
      ? main && { value: atPort(folder, `deno run ${PERMISSIONS} ${main}`), origin: detected(main) }
      : { value: atPort(folder, taskCommand(task)), origin: `${file}: tasks.start` };
  if (start === undefined && !input.hasStart) {
    throw new PlanRefusal(
      "This Deno application does not say how it starts; add a task `start` to deno.json, a main.ts, or set start_command.",
    );
  }
  const imports = Object.values(content.imports ?? {}).map(String);
  const framework = FRAMEWORKS.find(([, sign]) => imports.some((target) => sign.test(target)))?.[0] ?? null;
  const lock = folder.has("deno.lock");
  const installs = installThemselves(input.buildCommands, "Deno");
  return {
    runtime: resolveVersion(
      "deno",
      input.versionOf("deno") ?? fileVersion("deno", input.folders),
      input.available,
    ),
    language: "TypeScript",
    framework,
    install: {
      commands:
        !installs && (lock || file !== undefined) ? [lock ? "deno install --frozen" : "deno install"] : [],
      directory: folder.path,
      origin: installs ? OWN_INSTALL : lock ? "deno.lock" : (file ?? detected("Deno")),
    },
    ...(tasks.has("build") && {
      build: { commands: ["deno task build"], directory: folder.path, origin: `${file}: tasks.build` },
    }),
    ...(start && {
      start,
      serving: { mode: "process", root: null, fallback: false, origin: start.origin },
    }),
  };
}

/** The task itself where it is a plain call of Deno, which saves a process. */
function taskCommand(task: unknown): string {
  const isPlain = typeof task === "string" && /^deno (?:run|serve) [^&|;]*$/.test(task);
  return isPlain ? checkCommand(task, "deno.json: tasks.start") : "deno task start";
}

/** Deno obeys no variable PORT: a server whose program does not read it would listen at a port of its own. */
function atPort(folder: Folder, command: string): string {
  if (/^deno serve (?!.*--port\b)/.test(command))
    return command.replace("deno serve", "deno serve --host 127.0.0.1 --port $PORT");
  const words = new Set(command.split(" ").map((word) => word.replace(/^\.\//, "")));
  const program = folder.matching(/\.[jt]s$/).find((name) => PROGRAMS.includes(name) && words.has(name));
  const code = program === undefined ? "" : (folder.text(program) ?? "");
  const isDeaf = /\bDeno\.serve\(/.test(code) && !code.includes("PORT");
  return isDeaf ? `DENO_SERVE_ADDRESS=tcp:127.0.0.1:$PORT ${command}` : command;
}
