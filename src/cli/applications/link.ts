// The link of a folder to an environment: `.pilvi/project.json`, which commands look for as git looks for `.git`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandError } from "../failure.ts";

/** The content of a link. */
export interface Link {
  /** The address of Pilvi. */
  url: string;
  application_id: string;
  environment_id: string;
}

/** A link and the folder that it is in. */
export interface FoundLink extends Link {
  folder: string;
}

const FILE = join(".pilvi", "project.json");

const MEMBERS = ["url", "application_id", "environment_id"] as const;

/** The link of a folder, or of the nearest folder above it. @throws CommandError when the file is damaged. */
export function findLink(start: string): FoundLink | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const file = join(folder, FILE);
    if (existsSync(file)) return { ...readLink(file), folder };
    if (dirname(folder) === folder) return undefined;
  }
}

/** The file of a link; the folder around it may be Pilvi's own data directory. */
export function linkFile({ folder }: Pick<FoundLink, "folder">): string {
  return join(folder, FILE);
}

/** @throws CommandError for a folder that holds much more than a program, such as that of Pilvi's own data. */
export function checkLinkable(folder: string): void {
  if (folder !== homedir() && folder !== "/") return;
  throw new CommandError(`${folder} cannot be an application. Go to the folder of your program.`);
}

/** Writes the link of a folder, and has git ignore it where the folder has a `.gitignore`. */
export function writeLink(folder: string, link: Link): void {
  mkdirSync(join(folder, ".pilvi"), { recursive: true });
  writeFileSync(join(folder, FILE), `${JSON.stringify(link, null, 2)}\n`);
  const ignore = join(folder, ".gitignore");
  if (!existsSync(ignore)) return;
  const text = readFileSync(ignore, "utf8");
  if (/^\/?\.pilvi\/?\s*$/m.test(text)) return;
  writeFileSync(ignore, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}.pilvi/\n`);
}

function readLink(file: string): Link {
  const link = parsed(readFileSync(file, "utf8"));
  const isLink = MEMBERS.every((member) => typeof link?.[member] === "string");
  if (!isLink) throw new CommandError(`${file} is damaged. Delete it, and link the folder with: pilvi init`);
  return link as unknown as Link;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
