// How an application answers requests: what the environment says of it, and which of several origins decides.
import { PLAN_BOUNDS, type Plan, type PlannedServing } from "../contracts/plan.ts";
import { type Detection, type Draft, firstOf } from "./draft.ts";
import { PlanRefusal, quoted } from "./faults.ts";
import { innerFolder, type PlanSettings } from "./settings.ts";

/** The mode that an environment asks for; a folder alone is one of PHP where the application is. */
export function ownMode(
  { servingMode, servingRoot }: Pick<PlanSettings, "servingMode" | "servingRoot">,
  isPhp: boolean,
): PlannedServing["mode"] | null {
  if (servingMode !== null || servingRoot === null) return servingMode;
  return isPhp ? "php" : "static";
}

/**
 * What the environment says of the way of serving; undefined where it leaves that to the repository.
 * @throws PlanRefusal that names the field of the API.
 */
export function ownServing(settings: PlanSettings, detection: Detection): PlannedServing | undefined {
  const isPhp = detection.runtime.name === "php";
  const mode = ownMode(settings, isPhp);
  if (mode === null) return undefined;
  const { servingRoot } = settings;
  const origin = `environment: ${servingRoot === null ? "serving_mode" : "serving_root"}`;
  if (mode === "process") return { mode, root: null, fallback: false, origin };
  if (mode === "php" && !isPhp) {
    throw new PlanRefusal(
      `serving_mode is php, and this application runs on ${detection.runtime.name}; leave serving_mode to the plan, or set it to static.`,
    );
  }
  const found = detection.serving?.mode === mode ? detection.serving : undefined;
  const root = servingRoot === null ? found?.root : folderOf(servingRoot, settings);
  if (root !== undefined && root !== null) return { mode, root, fallback: found?.fallback ?? false, origin };
  throw new PlanRefusal(
    `serving_mode is ${mode}, and nothing names the folder to serve; set serving_root to it, such as dist.`,
  );
}

function folderOf(path: string, { rootDirectory }: PlanSettings): string {
  const folder = innerFolder(path, "serving_root must be a folder of the release, such as dist.");
  const { length } = `${rootDirectory}/${folder}`;
  if (length <= PLAN_BOUNDS.served) return folder;
  throw new PlanRefusal(
    `serving_root is ${quoted(folder)}, which has ${length} characters with root_directory; ${PLAN_BOUNDS.served} are allowed.`,
  );
}

/** The same plan with what the environment says of paths without a file. */
export function withFallback(plan: Plan, { servingFallback: wanted }: PlanSettings): Plan {
  const { serving, notes } = plan;
  if (wanted === null) return plan;
  if (serving.mode !== "static") {
    const note = "serving_fallback is not used, since no site of files is served.";
    return { ...plan, notes: [...notes, note].slice(0, PLAN_BOUNDS.notes) };
  }
  const fallback = wanted === "index.html";
  if (serving.fallback === fallback) return plan;
  const isOwn = serving.origin.startsWith("environment: ");
  const origin = isOwn ? serving.origin : "environment: serving_fallback";
  return { ...plan, serving: { ...serving, fallback, origin } };
}

/** Says that the start command of the environment has no use. */
export function startNotes(own: Draft, serving: PlannedServing): string[] {
  if (own.start === undefined || serving.mode === "process") return [];
  return [
    `start_command is not used, since ${serving.origin.replace("environment: ", "")} has files served.`,
  ];
}

/**
 * The way of serving and the start command belong together: whichever has the higher precedence decides.
 * @throws PlanRefusal when a process is to serve and nothing starts it.
 */
export function servingAndStart(
  drafts: Draft[],
  detection: Detection,
): Pick<Draft, "start"> & Pick<Plan, "serving"> {
  const start = firstOf(drafts, "start");
  const decisive = drafts.find((draft) => draft.serving !== undefined || draft.start !== undefined);
  if (decisive?.serving !== undefined) {
    if (decisive.serving.mode !== "process") return { serving: decisive.serving };
    if (start !== undefined) return { serving: decisive.serving, start };
  } else if (start !== undefined) {
    return { serving: { mode: "process", root: null, fallback: false, origin: start.origin }, start };
  }
  throw new PlanRefusal(
    `Nothing starts this ${detection.framework ?? detection.language ?? ""} application`.replace("  ", " ") +
      "; set start_command, or add a line `web: …` to a Procfile.",
  );
}
