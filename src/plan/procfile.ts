// The Procfile: a process a line, `name: command`.
import { PLAN_BOUNDS, type PlannedProcess } from "../contracts/plan.ts";
import { checkCommand } from "./commands.ts";
import type { Draft } from "./draft.ts";
import { SourceFault } from "./faults.ts";
import type { Folder } from "./folder.ts";

const FILE = "Procfile";
const LINE = /^([A-Za-z0-9][A-Za-z0-9_-]{0,39})[ \t]*:[ \t]*(.*)$/;

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

/** @throws SourceFault that names the line. */
function processesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const at = `line ${index + 1}`;
    const [, name, command] = LINE.exec(trimmed) ?? [];
    if (name === undefined || command === undefined) {
      throw new SourceFault(FILE, `cannot be used: ${at} is not of the form \`name: command\`.`);
    }
    if (found.has(name)) throw new SourceFault(FILE, `cannot be used: ${at} names a process again.`);
    found.set(name, checkCommand(command, `${FILE}, ${at},`));
    if (found.size > PLAN_BOUNDS.processes) {
      throw new SourceFault(FILE, `cannot be used: it has more than ${PLAN_BOUNDS.processes} processes.`);
    }
  }
  return found;
}
