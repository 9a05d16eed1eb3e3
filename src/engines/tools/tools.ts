// Programs beside engines that applications need: found on the system, or in the folder that `installTools` fills.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { readJsonAs } from "../../contracts/read.ts";
import { readIfPresent } from "../../lib/files.ts";
import { compareDebianVersions } from "../safety/debian-version.ts";
import { libraryEnv } from "../store-folder.ts";

/** What is known of each tool: its name on the system, its package, and its place in that package. */
export const TOOLS = {
  bubblewrap: { program: "bwrap", package: "bubblewrap", path: "usr/bin/bwrap" },
  nftables: { program: "nft", package: "nftables", path: "usr/sbin/nft" },
  nginx: { program: "nginx", package: "nginx", path: "usr/sbin/nginx" },
} as const;

export type ToolName = keyof typeof TOOLS;

/** Folders of programs for administrators, which the PATH of a service may lack. */
const SYSTEM_FOLDERS = ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin"];

/** A tool on this machine. */
export interface Tool {
  program: string;
  /** The folder that has to be visible for it to run; null for a program of the system. */
  home: string | null;
  /** Environment variables that it needs. */
  env: Record<string, string>;
}

/** The note in the folder of an installed tool. */
const toolNoteSchema = z.strictObject({
  version: z.literal(1),
  name: z.enum(["bubblewrap", "nftables", "nginx"]),
  /** The version of the package. */
  package: z.string(),
  libraryDirs: z.array(z.string()),
});

export const TOOL_NOTE = "pilvi-tool.json";

/** The folder of the tools that Pilvi has installed. */
export function toolsDir(enginesDir: string): string {
  return join(enginesDir, "tools");
}

/** The system's tool, which its packages keep safe, or else the newest of Pilvi's own; null without any. */
export function findTool(name: ToolName, enginesDir: string): Tool | null {
  const ofSystem = SYSTEM_FOLDERS.map((folder) => join(folder, TOOLS[name].program)).find(existsSync);
  if (ofSystem !== undefined) return { program: ofSystem, home: null, env: {} };
  const folder = toolsDir(enginesDir);
  if (!existsSync(folder)) return null;
  const entries = readdirSync(folder).filter((entry) => !entry.startsWith(".") && !entry.endsWith(".tmp"));
  const found = entries.flatMap((entry) => noteIn(join(folder, entry)) ?? []);
  const newest = found
    .filter(({ note }) => note.name === name)
    .sort((a, b) => compareDebianVersions(b.note.package, a.note.package))[0];
  if (newest === undefined) return null;
  const { home, note } = newest;
  return { program: join(home, TOOLS[name].path), home, env: libraryEnv(home, note.libraryDirs) };
}

function noteIn(home: string): { home: string; note: z.infer<typeof toolNoteSchema> } | null {
  const text = readIfPresent(join(home, TOOL_NOTE));
  try {
    return text === null ? null : { home, note: readJsonAs(toolNoteSchema, text, "The note of a tool") };
  } catch {
    // A note of another release; the tool is installed anew.
    return null;
  }
}
