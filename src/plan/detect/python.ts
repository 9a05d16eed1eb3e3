// Python applications: Django, FastAPI, Flask, and programs of any kind.
import * as z from "zod/mini";
import type { PlannedCommands } from "../../contracts/plan.ts";
import { installPython } from "../commands.ts";
import { detected, OWN_INSTALL, type Detection } from "../draft.ts";
import { PlanRefusal } from "../faults.ts";
import type { Folder } from "../folder.ts";
import { readToml } from "../json.ts";
import { linesOf } from "../lines.ts";
import { fileVersion } from "../tool-versions.ts";
import { resolveVersion, type VersionRequest } from "../versions.ts";
import { frontendOf } from "./frontend.ts";
import type { DetectionInput } from "./node.ts";
import { pythonApplicationOf } from "./python-application.ts";
import { withVenv } from "./python-venv.ts";

const projectSchema = z.object({
  project: z.optional(
    z.object({
      dependencies: z.optional(z.array(z.string())),
      "requires-python": z.optional(z.string()),
    }),
  ),
  tool: z.optional(
    z.object({
      poetry: z.optional(z.object({ dependencies: z.optional(z.record(z.string(), z.unknown())) })),
    }),
  ),
});

type Project = z.infer<typeof projectSchema>;

const PIP = ".venv/bin/pip install --disable-pip-version-check --quiet";

/** Compiles the application's own modules: a release cannot be written, so each start would compile them anew. */
const COMPILE = ".venv/bin/python -m compileall -qq -x '/(\\.venv|node_modules)/' . || true";

/** Signs of Python, the surest first. */
const SIGNS = ["requirements.txt", "pyproject.toml", "uv.lock", "poetry.lock", "Pipfile", "manage.py"];

/** Whether a folder looks like an application in Python. */
export function isPython(folder: Folder): boolean {
  return folder.firstOf(...SIGNS, "main.py", "app.py") !== undefined;
}

/** @throws PlanRefusal when nothing can be started. */
export function detectPython(input: DetectionInput): Detection {
  const [folder] = input.folders;
  const text = folder.text("pyproject.toml");
  const project = text === undefined ? undefined : readToml(projectSchema, "pyproject.toml", text);
  const dependencies = dependenciesOf(folder, project);
  const app = pythonApplicationOf(folder, dependencies, input.commands);
  if (app.start === undefined && !input.hasStart) {
    throw new PlanRefusal(
      "This Python application does not say how it starts; add a line `web: …` to a Procfile, or set start_command.",
    );
  }
  const frontend = frontendOf(input);
  const runtime = resolveVersion(
    "python",
    input.versionOf("python") ?? versionRequest(input, project),
    input.available,
  );
  const missing = app.servers.filter((name) => !dependencies.has(name));
  const servers = missing.length === 0 ? [] : [`${PIP} ${missing.join(" ")}`];
  const install = installOf(input, installSteps(folder, project), runtime.version, servers);
  return {
    runtime,
    tools: frontend.tools,
    paths: [...frontend.paths, ...[".venv/bin", "node_modules/.bin"].map((name) => folder.pathOf(name))],
    setup: [...withVenv(folder, runtime.version, servers), ...frontend.setup],
    language: "Python",
    framework: app.label,
    install: { ...install, commands: [...install.commands, ...frontend.install] },
    ...(frontend.build !== undefined && { build: frontend.build }),
    ...(app.start !== undefined && {
      start: app.start,
      serving: { mode: "process", root: null, fallback: false, origin: app.start.origin },
    }),
    notes: app.notes,
  };
}

/** Names of packages in lower case, from all files that may list them. */
function dependenciesOf(folder: Folder, project: Project | undefined): Set<string> {
  const lines = [
    ...linesOf(folder.text("requirements.txt") ?? ""),
    ...linesOf(folder.text("Pipfile") ?? ""),
    ...(project?.project?.dependencies ?? []),
    ...Object.keys(project?.tool?.poetry?.dependencies ?? {}),
  ];
  return new Set(
    lines.map((line) => /^\s*"?([A-Za-z0-9][\w.-]*)/.exec(line)?.[1]?.toLowerCase() ?? "").filter(Boolean),
  );
}

function versionRequest({ folders }: DetectionInput, project: Project | undefined): VersionRequest | null {
  const file = fileVersion("python", folders);
  if (file !== null) return file;
  const required = project?.project?.["requires-python"];
  if (required !== undefined) return { range: required, origin: "pyproject.toml: requires-python" };
  const poetry = project?.tool?.poetry?.dependencies?.["python"];
  return typeof poetry === "string" ? { range: poetry, origin: "pyproject.toml: python" } : null;
}

/** How all packages of a repository are installed. */
interface InstallSteps {
  origin: string;
  /** Install the program that installs the packages. */
  tools: string[];
  packages: string[];
  /** What a build command has to do so that it installs the same packages. */
  way: Parameters<typeof installPython>[1];
}

/** @param servers installs what no file lists and the start command needs. */
function installOf(
  { folders: [folder], buildCommands }: DetectionInput,
  { origin, tools, packages, way }: InstallSteps,
  version: string | null,
  servers: string[],
): PlannedCommands {
  const isOwn = installPython(buildCommands, way);
  // The lock of uv or poetry would remove packages that it does not list, so they come last.
  const all = [...tools, ...(isOwn ? [] : packages), ...servers];
  // The Python of a machine takes no packages, so pip needs the virtual environment in any case.
  const needsVenv = all.length > 0 || installPython(buildCommands, "any");
  return {
    commands: needsVenv ? [...withVenv(folder, version, all), COMPILE] : [],
    directory: folder.path,
    origin: isOwn ? OWN_INSTALL : origin,
  };
}

function installSteps(folder: Folder, project: Project | undefined): InstallSteps {
  if (folder.has("uv.lock")) {
    const packages = [".venv/bin/uv sync --frozen --no-dev --inexact"];
    return { origin: "uv.lock", tools: [`${PIP} uv`], packages, way: "uv" };
  }
  if (folder.has("poetry.lock")) {
    const packages = [
      'VIRTUAL_ENV="$PWD/.venv" .venv/bin/poetry install --only main --no-root --no-interaction --compile',
    ];
    return { origin: "poetry.lock", tools: [`${PIP} poetry`], packages, way: "poetry" };
  }
  if (folder.has("Pipfile.lock")) {
    const packages = ["PIPENV_VENV_IN_PROJECT=1 .venv/bin/pipenv sync"];
    return { origin: "Pipfile.lock", tools: [`${PIP} pipenv`], packages, way: "pipenv" };
  }
  if (folder.has("requirements.txt")) {
    const packages = [`${PIP} -r requirements.txt`];
    return { origin: "requirements.txt", tools: [], packages, way: "requirements" };
  }
  if (project?.project !== undefined || project?.tool?.poetry !== undefined) {
    return { origin: "pyproject.toml", tools: [], packages: [`${PIP} .`], way: "project" };
  }
  return { origin: detected("Python"), tools: [], packages: [], way: "any" };
}
