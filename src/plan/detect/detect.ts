// Finds out what a folder is by looking at its files.
import type { AvailableRuntimes, RuntimeName } from "../../contracts/plan.ts";
import { detected, type Detection, type RuntimeDemand } from "../draft.ts";
import { PlanRefusal } from "../faults.ts";
import type { Folder } from "../folder.ts";
import { listText } from "../texts.ts";
import { detectDeno, isDeno } from "./deno.ts";
import { detectNode, type DetectionInput } from "./node.ts";
import { frameworkOf } from "./node-frameworks.ts";
import { PackageJson } from "./package-json.ts";
import { detectPhp, isPhp } from "./php.ts";
import { detectPython, isPython } from "./python.ts";

const LABELS = { node: "Node.js", bun: "Bun", deno: "Deno", php: "PHP", python: "Python" };

/** Where the page of a static site is; the top comes last. */
const STATIC_FOLDERS = ["dist", "build", "public", "_site", "site", ""];

/** Files of languages that Pilvi has no runtime for. */
const OTHER_LANGUAGES: [file: string, label: string][] = [
  ["go.mod", "Go"],
  ["Cargo.toml", "Rust"],
  ["Gemfile", "Ruby"],
  ["pom.xml", "Java"],
  ["build.gradle", "Java"],
  ["build.gradle.kts", "Kotlin"],
  ["mix.exs", "Elixir"],
  ["hugo.toml", "Hugo"],
];

export const CONTAINER_FILES = ["Dockerfile", "Containerfile", "docker-compose.yml", "compose.yaml"];

/**
 * What the folder is.
 * @param demand a runtime that another origin asks for; null leaves it to the files.
 * @throws PlanRefusal that says what can be had; SourceFault when a file is malformed.
 */
export function detect(input: DetectionInput, demand: RuntimeDemand | null): Detection {
  const [folder] = input.folders;
  const packageJson = PackageJson.read(folder);
  const name = demand?.value ?? guess(input, packageJson);
  switch (name) {
    case "node":
    case "bun":
      if (packageJson === undefined) return withoutPackageJson(input, name);
      // Railpack's provider `node` covers Bun as well.
      return detectNode(input, packageJson, null);
    case "deno":
      return detectDeno(input);
    case "php":
      return detectPhp(input);
    case "python":
      return detectPython(input);
    case "static":
      return isBuilt(input, packageJson)
        ? detectBuiltSite(input, packageJson, demand?.origin ?? "default")
        : detectStatic(folder);
    case "command":
      return plainDetection("command", demand?.origin ?? "default");
    case undefined:
      throw refusalOf(input);
  }
}

function guess(
  { folders: [folder], hasStart, isStatic }: DetectionInput,
  packageJson: PackageJson | undefined,
): RuntimeName | undefined {
  if (isDeno(folder) && packageJson === undefined) return "deno";
  if (isPhp(folder)) return "php";
  if (isPython(folder) && packageJson?.script("start") === undefined) return "python";
  if (packageJson !== undefined) return "node";
  if (folder.has("bunfig.toml")) return "bun";
  if (folder.has("deno.lock")) return "deno";
  if (isStatic || (staticRoot(folder) !== undefined && !hasStart)) return "static";
  return hasStart ? "command" : undefined;
}

/** A program alone, without dependencies. */
function withoutPackageJson(input: DetectionInput, name: "node" | "bun"): Detection {
  const [{ path }] = input.folders;
  const install = { commands: [], directory: path, origin: "default" };
  return { ...detectNode(input, PackageJson.empty(), name), install };
}

/** Whether npm or another manager of packages makes the files. */
function isBuilt(
  { commands }: DetectionInput,
  packageJson: PackageJson | undefined,
): packageJson is PackageJson {
  return packageJson !== undefined && (packageJson.script("build") !== undefined || commands.length > 0);
}

/**
 * Files that a build on Node.js or Bun makes, in the folder of its framework where it has one.
 * @throws PlanRefusal when nothing names the folder.
 */
function detectBuiltSite(input: DetectionInput, packageJson: PackageJson, origin: string): Detection {
  const [folder] = input.folders;
  const detection = detectNode({ ...input, hasStart: true }, packageJson, null);
  const { start: _start, serving: _serving, ...built } = detection;
  const { root, fallback = false } = frameworkOf(packageJson)?.serving(packageJson, folder) ?? {};
  if (root !== undefined) return { ...built, serving: { mode: "static", root, fallback, origin } };
  // The pages are there already, or nothing would make any.
  if (staticRoot(folder) !== undefined || packageJson.script("build") === undefined)
    return detectStatic(folder);
  if (input.hasStart) return built;
  throw new PlanRefusal(
    `${origin} asks for a site of files, and nothing names the folder that its build makes; set serving_root to it, such as dist.`,
  );
}

function detectStatic(folder: Folder): Detection {
  const root = staticRoot(folder) ?? "";
  const origin = detected("static files");
  return {
    ...plainDetection("static", origin),
    language: "HTML",
    serving: { mode: "static", root, fallback: false, origin },
  };
}

function staticRoot(folder: Folder): string | undefined {
  // A page at the top is the site itself; folders beside it are then parts of it.
  if (folder.has("index.html")) return "";
  return STATIC_FOLDERS.find((name) => folder.has(`${name}/index.html`));
}

function plainDetection(name: "static" | "command", origin: string): Detection {
  return { runtime: { name, version: null, origin }, language: null, framework: null };
}

/** The runtimes that can be had, for a sentence. */
function runtimesText(available: AvailableRuntimes): string {
  const names = (Object.keys(LABELS) as (keyof typeof LABELS)[]).filter((name) => available[name].length > 0);
  return [...names.map((name) => LABELS[name]), "static files"].join(", ").replace(/, ([^,]+)$/, " and $1");
}

function refusalOf({ folders: [folder], available }: DetectionInput): PlanRefusal {
  const runtimes = runtimesText(available);
  const container = folder.firstOf(...CONTAINER_FILES);
  const start =
    "a start command for a program that the machine has (start_command, or `web: …` in a Procfile)";
  if (container !== undefined) {
    return new PlanRefusal(
      `${container} cannot be built, since Pilvi runs without containers. It runs ${runtimes}, or takes ${start}.`,
    );
  }
  const language = OTHER_LANGUAGES.find(([file]) => folder.has(file))?.[1];
  if (language !== undefined) {
    return new PlanRefusal(
      `Pilvi has no runtime for ${language}. It runs ${runtimes}, or takes ${start}, such as a program in the repository.`,
    );
  }
  const inner = applicationFolders(folder);
  if (inner.length > 0) {
    return new PlanRefusal(
      `There is no application at the top of the repository; set root_directory to its folder, such as ${listText(inner)}.`,
    );
  }
  return new PlanRefusal(
    `Pilvi found nothing to run${folder.path === "" ? "" : ` in ${folder.path}`}. It runs ${runtimes}, or takes ${start}.`,
  );
}

/** Folders that look like applications, at most three of them. */
function applicationFolders(folder: Folder): string[] {
  const signs =
    /^(?:[\w.@-]{1,80}\/){1,2}(?:package\.json|composer\.json|deno\.json|requirements\.txt|pyproject\.toml)$/;
  const names = folder.matching(signs).map((path) => path.slice(0, path.lastIndexOf("/")));
  return [...new Set(names)].slice(0, 3);
}
