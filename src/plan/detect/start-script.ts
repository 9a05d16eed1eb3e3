// The script that starts an application, without the build that many have at their beginning: a release cannot be
// written, and a build at each start would hold up each wake.
import { checkedCommands } from "../commands.ts";
import type { Detection, Draft } from "../draft.ts";
import type { Folder } from "../folder.ts";
import type { PackageJson } from "./package-json.ts";

/** A script that starts an application. */
export interface StartScript {
  name: string;
  /** The script without the build. */
  script: string;
  /** The commands that it builds with first; none where nothing is built. */
  builds: string[];
  /** What has to run before it, as `prestart`, unless that builds. */
  before: string | undefined;
}

/** Runs a script of package.json, up to its name. */
const RUN = String.raw`(?:npm run|pnpm(?: run)?|yarn(?: run)?|bun run)(?: -s| --silent)? `;
const FRAMEWORKS = "next|nuxt|nuxi|vite|astro|remix|react-router|nest|tsup|rollup|webpack";
/** Makes files: a script whose name begins with `build`, the compiler of TypeScript, or a framework's own build. */
const BUILD = String.raw`(?:${RUN}build[\w:.-]*|(?:npx )?(?:tsc\b|(?:${FRAMEWORKS}) build\b)[^&|;]*)`;
const IS_BUILD = new RegExp(`^${BUILD}$`);
const RUNS_BUILD = new RegExp(`^${RUN}build$`);
const NPX = /^npx /;
/** Has a package manager run the script `start`. */
const RUNS_START = /^(?:npm|yarn|pnpm|bun)(?: run)? start$/;
/** A compiler that does not end. */
const WATCH = /\s(?:-w|--watch)\b/;

/** Takes the builds off the beginning of a script, and off the script that npm runs before it. */
export function startScriptOf(packageJson: PackageJson, name: string): StartScript | undefined {
  const whole = packageJson.script(name)?.trim();
  if (whole === undefined) return undefined;
  const before = packageJson.script(`pre${name}`)?.trim();
  const isBuiltBefore = before !== undefined && isBuild(before);
  const builds = isBuiltBefore ? [before] : [];
  const parts = whole.split("&&");
  while (parts.length > 1 && isBuild(parts[0]?.trim() ?? "")) builds.push(parts.shift()?.trim() ?? "");
  const script = parts.join("&&").trim();
  return { name, script, builds, before: isBuiltBefore ? undefined : before };
}

function isBuild(command: string): boolean {
  return IS_BUILD.test(command) && !WATCH.test(command);
}

/** The build of an application with what its start script builds first, unless the build does that already. */
export function withStartBuilds(
  build: Detection["build"],
  start: StartScript | undefined,
  packageJson: PackageJson,
  { path }: Folder,
): Detection["build"] {
  const commands = [...(build?.commands ?? []), packageJson.script("build") ?? ""];
  const known = new Set(commands.map((command) => command.replace(NPX, "")));
  const isKnown = (command: string) => known.has(command.replace(NPX, "")) || RUNS_BUILD.test(command);
  const missing = (start?.builds ?? []).filter((command) => !isKnown(command));
  if (missing.length === 0 || start === undefined) return build;
  const origin = `package.json: scripts.${start.name}`;
  checkedCommands(missing, origin);
  if (build === undefined) return { commands: missing, directory: path, origin };
  return { ...build, commands: [...build.commands, ...missing] };
}

/**
 * A draft whose command has a package manager run the script `start`, with what the plan makes of that script: managers
 * take longer to start than most applications.
 */
export function withStartScript(draft: Draft, { start: script }: Detection): Draft {
  const { start } = draft;
  if (start === undefined || start === script) return draft;
  if (script?.origin !== "package.json: scripts.start") return draft;
  if (!RUNS_START.test(start.value.trim())) return draft;
  return { ...draft, start: { value: script.value, origin: `${start.origin}, ${script.origin}` } };
}
