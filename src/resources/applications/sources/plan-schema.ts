// The shape of a plan in an answer.
import { z } from "zod";
import { runtimeNames, servingModes } from "../../../contracts/plan.ts";

const origin = z.string().meta({
  description: "Where the field comes from: `environment`, a file, what was detected, or `default`.",
  example: "package.json: scripts.build",
});

const commands = z.object({
  commands: z.array(z.string()).meta({ example: ["npm run build"] }),
  directory: z.string().meta({ description: "Below the top of the source; empty for the top.", example: "" }),
  origin,
});

const runtime = z.object({
  name: z.enum(runtimeNames),
  version: z.string().nullable().meta({ example: "24.11.0" }),
  origin,
});

const attributes = z
  .object({
    root_directory: z.string().meta({ example: "" }),
    language: z.string().nullable().meta({ example: "javascript" }),
    framework: z.string().nullable().meta({ example: "express" }),
    runtime,
    tools: z.array(runtime).meta({ description: "Further runtimes that the build needs." }),
    install: commands,
    build: commands,
    deploy: commands,
    start: z
      .object({ command: z.string(), origin })
      .nullable()
      .meta({ description: "Null where a server of Pilvi's serves the application." }),
    processes: z.array(z.object({ name: z.string(), command: z.string(), origin })),
    serving: z.object({
      mode: z.enum(servingModes),
      root: z.string().nullable(),
      fallback: z.boolean().meta({ description: "Whether a path without a file gets `index.html`." }),
      origin,
    }),
    port: z.object({ value: z.int().nullable(), origin }),
    health_path: z.object({
      value: z.string().nullable().meta({ description: "Null where an open port is enough.", example: "/" }),
      origin,
    }),
    notes: z.array(z.string()).meta({
      description: "What the source asks for and the plan leaves out, and what a setting would change.",
    }),
  })
  .meta({ id: "PlanAttributes" });

/** A plan as answers show it. */
export const planResource = z
  .object({
    id: z.string().meta({ description: "The hash of the commit.", example: "4f0c9a1" }),
    type: z.literal("plans"),
    attributes,
  })
  .meta({ id: "Plan" });

export type PlanResource = z.output<typeof planResource>;
