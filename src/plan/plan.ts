// Makes the plan of an environment from its own fields and the files of a source, each field with its origin.
import {
  PLAN_BOUNDS,
  planSchema,
  type AvailableRuntimes,
  type Plan,
  type PlannedCommands,
  type VersionedRuntime,
} from "../contracts/plan.ts";
import { readAs } from "../contracts/read.ts";
import { storable } from "../lib/storable.ts";
import { CONTAINER_FILES, detect } from "./detect/detect.ts";
import { isPhp } from "./detect/php.ts";
import { withStartScript } from "./detect/start-script.ts";
import { commandsIn, type Detection, type Draft, firstOf } from "./draft.ts";
import { PlanRefusal, quoted } from "./faults.ts";
import { Folder } from "./folder.ts";
import { procfileDraft, sleepNotes } from "./procfile.ts";
import { RailpackFile } from "./railpack.ts";
import { ownMode, ownServing, servingAndStart, startNotes, withFallback } from "./serving.ts";
import { checkedRoot, type PlanSettings, settingsDraft } from "./settings.ts";
import type { SourceFiles } from "./source-files.ts";
import { refuseSubmodule, sourceNotes } from "./source-notes.ts";
import type { VersionRequest } from "./versions.ts";

const DEFAULT = "default";

/**
 * The plan of a source. The environment's own fields come first, then railpack.json, the Procfile, scripts, and what
 * the files look like; each field is decided for itself.
 * @throws PlanRefusal when something cannot be had, SourceFault when a file is malformed; both messages are for people.
 */
export async function planOf(
  source: SourceFiles,
  settings: PlanSettings,
  available: AvailableRuntimes,
): Promise<Plan> {
  const rootDirectory = checkedRoot(settings.rootDirectory);
  const folders = await openFolders(source, rootDirectory);
  const [folder] = folders;
  const own = settingsDraft({ ...settings, rootDirectory });
  const railpack = RailpackFile.read(folder);
  const procfile = procfileDraft(folder);
  const files = [railpack.draft({}), procfile];
  const mode = ownMode(settings, isPhp(folder));
  const detection = detect(
    {
      folders,
      available,
      versionOf: (name) => ownVersion(name, settings) ?? railpack.version(name),
      buildCommands: own.build?.commands ?? [],
      commands: commandsIn([own, ...files]),
      hasStart: mode !== null || firstOf([own, ...files], "start") !== undefined,
      isStatic: mode === "static",
    },
    railpack.runtime,
  );
  const serving = ownServing(settings, detection);
  const ordered = {
    ...own,
    ...(serving !== undefined && { serving, notes: startNotes(own, serving) }),
  };
  const drafts = [
    ordered,
    railpack.draft(detection),
    procfile,
    detection,
    { notes: sleepNotes(procfile, settings.sleeps) },
  ].map((draft) => withStartScript(draft, detection));
  const plan = assemble(drafts, detection, folder, await sourceNotes(source));
  return checked(withFallback(plan, settings));
}

async function openFolders(source: SourceFiles, root: string): Promise<[Folder, ...Folder[]]> {
  const folder = await Folder.open(source, root);
  if (root === "") return [folder];
  if (folder.isEmpty) {
    refuseSubmodule(source, root);
    throw new PlanRefusal(`root_directory is ${quoted(root)}, and the repository has no such folder.`);
  }
  return [folder, await Folder.open(source, "")];
}

function ownVersion(name: VersionedRuntime, settings: PlanSettings): VersionRequest | null {
  if (name === "node" && settings.nodeVersion !== null) {
    return { range: settings.nodeVersion, origin: "environment: node_version" };
  }
  if (name === "php" && settings.phpVersion !== null) {
    // The API's spelling, `8.2:1`, has the number of an image after the version.
    return { range: settings.phpVersion.replace(/:\d+$/, ""), origin: "environment: php_version" };
  }
  return null;
}

function assemble(drafts: Draft[], detection: Detection, folder: Folder, missing: string[]): Plan {
  const step = (name: "install" | "build" | "deploy"): PlannedCommands =>
    firstOf(drafts, name) ?? { commands: [], directory: folder.path, origin: DEFAULT };
  const { serving, start } = servingAndStart(drafts, detection);
  const health = firstOf(drafts, "healthPath");
  return {
    version: 1,
    rootDirectory: folder.path,
    language: detection.language,
    framework: detection.framework,
    runtime: detection.runtime,
    tools: detection.tools ?? [],
    paths: detection.paths ?? [],
    install: step("install"),
    build: step("build"),
    deploy: step("deploy"),
    start: start === undefined ? null : { command: start.value, origin: start.origin },
    processes: firstOf(drafts, "processes") ?? [],
    serving,
    port: { value: null, origin: DEFAULT },
    healthPath: health ?? { value: "/", origin: DEFAULT },
    notes: notesOf(drafts, folder, missing),
  };
}

function notesOf(drafts: Draft[], folder: Folder, missing: string[]): string[] {
  const container = folder.firstOf(...CONTAINER_FILES);
  const all = [
    ...missing,
    ...drafts.flatMap(({ notes = [] }) => notes),
    ...(container === undefined ? [] : [`${container} is not used, since Pilvi runs without containers.`]),
  ];
  return all.slice(0, PLAN_BOUNDS.notes).map((note) => note.slice(0, PLAN_BOUNDS.note));
}

/** Files may have characters that the store does not take. */
function checked(plan: Plan): Plan {
  return readAs(planSchema, storable(plan), "The plan");
}
