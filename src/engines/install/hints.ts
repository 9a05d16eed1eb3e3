// The command with which the operator installs an engine on this system.
import { readFileSync } from "node:fs";
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import type { Family, Packages } from "../foreign-program.ts";
import { programOf } from "../registry.ts";

const COMMANDS: Record<Family, string> = {
  debian: "sudo apt-get install",
  fedora: "sudo dnf install",
  alpine: "sudo apk add",
  arch: "sudo pacman -S",
};

/** The variables of os-release(5). */
export type OsRelease = Record<string, string>;

/** Reads /etc/os-release; empty when the system has none. */
export function readOsRelease(path = "/etc/os-release"): OsRelease {
  try {
    return parseOsRelease(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}

/** The variables of an os-release file, without their quotes. */
export function parseOsRelease(text: string): OsRelease {
  const lines = text.matchAll(/^([A-Z_]+)=["']?(.*?)["']?$/gm);
  return Object.fromEntries([...lines].map(([, name = "", value = ""]) => [name, value]));
}

/** The command that installs the engine there, or undefined for an unknown system. */
export function installHint(name: ForeignEngine, os: OsRelease): string | undefined {
  return commandFor(programOf(name).packages, os);
}

/** The command that installs a program that opens sessions with the engine. */
export function clientHint(name: ForeignEngine, os: OsRelease): string | undefined {
  const { client } = programOf(name);
  return client === undefined ? undefined : commandFor(client.packages, os);
}

function commandFor(packages: Packages, os: OsRelease): string | undefined {
  const family = familyOf(os);
  return family === undefined ? undefined : `${COMMANDS[family]} ${packages[family]}`;
}

function familyOf(os: OsRelease): Family | undefined {
  const ids = `${os.ID ?? ""} ${os.ID_LIKE ?? ""}`.split(" ");
  if (ids.includes("debian") || ids.includes("ubuntu")) return "debian";
  if (ids.includes("fedora") || ids.includes("rhel")) return "fedora";
  if (ids.includes("alpine")) return "alpine";
  if (ids.includes("arch")) return "arch";
  return undefined;
}
