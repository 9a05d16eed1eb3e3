// PHP applications: Laravel, Symfony, and folders with an index.php.
import * as z from "zod/mini";
import { installThemselves } from "../commands.ts";
import { detected, OWN_INSTALL, type Detection } from "../draft.ts";
import { PlanRefusal } from "../faults.ts";
import type { Folder } from "../folder.ts";
import { readJson } from "../json.ts";
import { fileVersion } from "../tool-versions.ts";
import { resolveVersion, type VersionRequest } from "../versions.ts";
import { frontendOf } from "./frontend.ts";
import type { DetectionInput } from "./node.ts";

const INSTALL = "composer install --no-dev --no-interaction --prefer-dist --optimize-autoloader";

const packages = z.optional(z.record(z.string(), z.unknown()));

const composerSchema = z.object({
  // Composer itself writes an empty object of PHP as an empty array.
  require: z.optional(z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())])),
  scripts: packages,
  config: z.optional(z.object({ platform: z.optional(z.object({ php: z.optional(z.string()) })) })),
});

type Composer = z.infer<typeof composerSchema>;

interface PhpFramework {
  label: string;
  packages: string[];
  root: string;
}

const FRAMEWORKS: PhpFramework[] = [
  { label: "Laravel", packages: ["laravel/framework", "laravel/lumen-framework"], root: "public" },
  { label: "Symfony", packages: ["symfony/framework-bundle", "symfony/symfony"], root: "public" },
  { label: "Slim", packages: ["slim/slim"], root: "public" },
  { label: "CakePHP", packages: ["cakephp/cakephp"], root: "webroot" },
  { label: "Yii", packages: ["yiisoft/yii2"], root: "web" },
];

/** Folders with the front controller, the safest first: the top has files that nobody is to read. */
const PUBLIC_FOLDERS = ["public", "web", "webroot", "htdocs", ""];

/** Laravel's own health check, in the file with the settings of its application. */
const LARAVEL_HEALTH = /\bhealth\s*:\s*['"](\/[\w/-]{0,100})['"]/;

/** Whether a folder looks like an application in PHP. */
export function isPhp(folder: Folder): boolean {
  return folder.firstOf("composer.json", "index.php", "public/index.php", "artisan") !== undefined;
}

/** @throws PlanRefusal when there is no front controller. */
export function detectPhp(input: DetectionInput): Detection {
  const [folder] = input.folders;
  const composer = readComposer(folder);
  const framework = FRAMEWORKS.find((each) => each.packages.some((name) => requires(composer, name)));
  const root = publicRoot(folder, framework);
  if (root === undefined && !input.hasStart) {
    throw new PlanRefusal(
      "This PHP application has no index.php at the top, in public, web, webroot or htdocs; set serving_root to the folder with it.",
    );
  }
  const origin = detected(framework?.label ?? "PHP");
  const frontend = frontendOf(input);
  const installs = installThemselves(input.buildCommands, "PHP");
  const install = [...(composer === undefined || installs ? [] : [INSTALL]), ...frontend.install];
  const build = buildOf(composer, folder, frontend.build);
  const health = LARAVEL_HEALTH.exec(folder.text("bootstrap/app.php") ?? "")?.[1];
  return {
    runtime: resolveVersion(
      "php",
      input.versionOf("php") ?? versionRequest(input, composer),
      input.available,
    ),
    tools: frontend.tools,
    paths: [...frontend.paths, ...["vendor/bin", "node_modules/.bin"].map((name) => folder.pathOf(name))],
    setup: frontend.setup,
    language: "PHP",
    framework: framework?.label ?? null,
    install: {
      commands: install,
      directory: folder.path,
      origin: installs ? OWN_INSTALL : composer === undefined ? origin : "composer.json",
    },
    ...(build !== undefined && { build }),
    ...(root !== undefined && { serving: { mode: "php", root, fallback: false, origin } }),
    ...(framework?.label === "Laravel" &&
      health !== undefined && { healthPath: { value: health, origin: "bootstrap/app.php" } }),
  };
}

function readComposer(folder: Folder): Composer | undefined {
  const text = folder.text("composer.json");
  return text === undefined ? undefined : readJson(composerSchema, "composer.json", text);
}

function requires(composer: Composer | undefined, name: string): boolean {
  const required = composer?.require;
  return required !== undefined && !Array.isArray(required) && Object.hasOwn(required, name);
}

function versionRequest({ folders }: DetectionInput, composer: Composer | undefined): VersionRequest | null {
  const platform = composer?.config?.platform?.php;
  if (platform !== undefined) {
    // The platform names the version that the lock file was made for, of which the minor version matters.
    const minor = platform.replace(/^(\d+\.\d+)\..*$/, "$1");
    return { range: minor, origin: "composer.json: config.platform.php" };
  }
  const required = composer?.require;
  const range = required === undefined || Array.isArray(required) ? undefined : required["php"];
  const file = fileVersion("php", folders);
  if (file !== null || typeof range !== "string") return file;
  return { range, origin: "composer.json: require.php" };
}

function publicRoot(folder: Folder, framework: PhpFramework | undefined): string | undefined {
  if (framework !== undefined) return framework.root;
  return PUBLIC_FOLDERS.find((name) => folder.has(name === "" ? "index.php" : `${name}/index.php`));
}

/** A Composer script `build`, then the assets. */
function buildOf(
  composer: Composer | undefined,
  folder: Folder,
  frontend: Detection["build"],
): Detection["build"] {
  if (composer?.scripts === undefined || !Object.hasOwn(composer.scripts, "build")) return frontend;
  return {
    commands: ["composer run-script build", ...(frontend?.commands ?? [])],
    directory: folder.path,
    origin: "composer.json: scripts.build",
  };
}
