// The Procfile: a process a line, `name: command`.
import { PLAN_BOUNDS, type PlannedProcess } from "../contracts/plan.ts";
import { shellWord } from "../lib/shell-word.ts";
import { checkCommand } from "./commands.ts";
import type { Draft } from "./draft.ts";
import { SourceFault } from "./faults.ts";
import type { Folder } from "./folder.ts";
import { linesOf } from "./lines.ts";
import type { PlanSettings } from "./settings.ts";
import { listText } from "./texts.ts";

const FILE = "Procfile";

/** How many processes a note names. */
const MAX_NAMED = 5;

const NAME = /^([A-Za-z0-9][A-Za-z0-9_-]{0,39})[ \t]*:/;

/** `web` starts the application, `release` runs before traffic moves, all others are background processes. */
export function procfileDraft(folder: Folder): Draft {
  const text = folder.text(FILE);
  if (text === undefined) return {};
  const lines = processesOf(text);
  const [web, release] = [lines.get("web"), lines.get("release")];
  const processes: PlannedProcess[] = [...lines]
    .filter(([name]) => name !== "web" && name !== "release")
    .map(([name, command]) => ({ name, command, origin: FILE }));
  return {
    ...(web !== undefined && { start: { value: web, origin: FILE } }),
    ...(release !== undefined && {
      deploy: { commands: [release], directory: folder.path, origin: FILE },
    }),
    ...(processes.length > 0 && { processes }),
  };
}

/** Says that background processes sleep along with their environment, which nobody expects of a queue or a bot. */
export function sleepNotes({ processes = [] }: Draft, sleeps: PlanSettings["sleeps"]): string[] {
  if (sleeps === null || processes.length === 0) return [];
  const { environment } = sleeps;
  const shown = processes.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = processes.length - shown.length;
  const names = listText(more === 0 ? shown : [shown.join(", "), `${more} more`]);
  const [subject, object] =
    processes.length === 1
      ? [`The process ${names} of the ${FILE} stops with its environment`, "it"]
      : [`The processes ${names} of the ${FILE} stop with their environment`, "them"];
  const word = environment.includes(" ") ? shellWord(environment) : environment;
  return [
    `${subject}, which sleeps some minutes after the latest request. To have ${object} go on, run: pilvi environments update ${word} --no-hibernate`,
  ];
}

/** @throws SourceFault that names the line. */
function processesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [index, line] of linesOf(text).entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const at = `line ${index + 1}`;
    const [beginning = "", name] = NAME.exec(trimmed) ?? [];
    if (name === undefined) {
      throw new SourceFault(FILE, `cannot be used: ${at} is not of the form \`name: command\`.`);
    }
    if (found.has(name)) throw new SourceFault(FILE, `cannot be used: ${at} names a process again.`);
    found.set(name, checkCommand(trimmed.slice(beginning.length).trim(), `${FILE}, ${at},`));
    if (found.size > PLAN_BOUNDS.processes) {
      throw new SourceFault(FILE, `cannot be used: it has more than ${PLAN_BOUNDS.processes} processes.`);
    }
  }
  return found;
}
