// The part of railpack.json that a plan takes over: provider, versions, and the commands of install, build and start.
import * as z from "zod/mini";
import { type PlannedCommands, type RuntimeName, type VersionedRuntime } from "../contracts/plan.ts";
import { checkCommand, checkedCommands } from "./commands.ts";
import type { Detection, Draft, RuntimeDemand } from "./draft.ts";
import { PlanRefusal, quoted } from "./faults.ts";
import type { Folder } from "./folder.ts";
import { readJsonWithComments } from "./json.ts";
import { listText } from "./texts.ts";
import type { VersionRequest } from "./versions.ts";

const FILE = "railpack.json";

/** Stands for the commands that would run without the file. */
const REST = "...";

const text = z.string().check(z.maxLength(5_000));
const commandSchema = z.union([text, z.object({ cmd: z.optional(text) })]);
const stepSchema = z.object({ commands: z.optional(z.array(commandSchema).check(z.maxLength(200))) });

const railpackSchema = z.object({
  provider: z.optional(text),
  packages: z.optional(
    z.object({
      node: z.optional(text),
      bun: z.optional(text),
      deno: z.optional(text),
      php: z.optional(text),
      python: z.optional(text),
    }),
  ),
  buildAptPackages: z.optional(z.array(text).check(z.maxLength(200))),
  steps: z.optional(z.object({ install: z.optional(stepSchema), build: z.optional(stepSchema) })),
  deploy: z.optional(
    z.object({
      startCommand: z.optional(text),
      aptPackages: z.optional(z.array(text).check(z.maxLength(200))),
    }),
  ),
});

type Railpack = z.infer<typeof railpackSchema>;

/** Railpack's names of providers. */
const PROVIDERS: Record<string, RuntimeName> = {
  node: "node",
  php: "php",
  python: "python",
  deno: "deno",
  staticfile: "static",
  shell: "command",
};

/** railpack.json of a folder. */
export class RailpackFile {
  readonly #folder: Folder;
  readonly #content: Railpack;

  private constructor(folder: Folder, content: Railpack) {
    this.#folder = folder;
    this.#content = content;
  }

  static read(folder: Folder): RailpackFile {
    const content = folder.text(FILE);
    return new RailpackFile(
      folder,
      content === undefined ? {} : readJsonWithComments(railpackSchema, FILE, content),
    );
  }

  /** @throws PlanRefusal when the provider cannot be had. */
  get runtime(): RuntimeDemand | null {
    const { provider } = this.#content;
    if (provider === undefined) return null;
    const value = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
    if (value !== undefined) return { value, origin: `${FILE}: provider` };
    throw new PlanRefusal(
      `${FILE} asks for the provider ${quoted(provider)}; Pilvi has ${listText(Object.keys(PROVIDERS))}.`,
    );
  }

  version(name: VersionedRuntime): VersionRequest | null {
    const range = this.#content.packages?.[name];
    return range === undefined ? null : { range, origin: `${FILE}: packages.${name}` };
  }

  /** @param rest what the steps are without the file, for `...`. */
  draft(rest: Pick<Detection, "install" | "build" | "setup">): Draft {
    const { steps, deploy } = this.#content;
    const install = this.#step("install", steps?.install?.commands, rest.install, rest.setup);
    const build = this.#step("build", steps?.build?.commands, rest.build);
    const start = deploy?.startCommand;
    return {
      ...(install !== undefined && { install }),
      ...(build !== undefined && { build }),
      ...(start !== undefined && { start: { value: checkCommand(start, FILE), origin: FILE } }),
      notes: this.#notes(),
    };
  }

  #step(
    name: "install" | "build",
    commands: z.infer<typeof commandSchema>[] | undefined,
    rest: PlannedCommands | undefined,
    setup: string[] = [],
  ): PlannedCommands | undefined {
    if (commands === undefined) return undefined;
    const lines = commands
      .map((each) => (typeof each === "string" ? each : each.cmd))
      .filter((line) => line !== undefined)
      .flatMap((line) => (line === REST ? (rest?.commands ?? []) : [line]));
    const isExtended = commands.includes(REST);
    return {
      commands: checkedCommands([...(isExtended ? [] : setup), ...lines], `${FILE}: steps.${name}`),
      directory: isExtended ? (rest?.directory ?? this.#folder.path) : this.#folder.path,
      origin: `${FILE}: steps.${name}`,
    };
  }

  #notes(): string[] {
    const { buildAptPackages = [], deploy } = this.#content;
    const packages = [...buildAptPackages, ...(deploy?.aptPackages ?? [])].map(quoted).slice(0, 5);
    if (packages.length === 0) return [];
    return [
      `${FILE} asks for packages of the system (${listText(packages)}); Pilvi runs with those of the machine.`,
    ];
  }
}
