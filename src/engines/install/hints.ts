// The one command that installs an engine on the system at hand, for the operator to run.
import { readFileSync } from "node:fs";
import type { ForeignEngine } from "../../drivers/driver.ts";

type Family = "debian" | "fedora" | "alpine" | "arch";

const COMMANDS: Record<Family, string> = {
  debian: "sudo apt-get install",
  fedora: "sudo dnf install",
  alpine: "sudo apk add",
  arch: "sudo pacman -S",
};

/** Programs that open sessions with databases, under the names of engines that have them. */
type ClientName = "postgres-client" | "mariadb-client";

const PACKAGES: Record<ForeignEngine | ClientName, Record<Family, string>> = {
  valkey: { debian: "valkey-server", fedora: "valkey", alpine: "valkey", arch: "valkey" },
  redis: { debian: "redis-server", fedora: "redis", alpine: "redis", arch: "redis" },
  postgres: {
    debian: "postgresql",
    fedora: "postgresql-server",
    alpine: "postgresql",
    arch: "postgresql",
  },
  mysql: { debian: "mysql-server", fedora: "mysql-server", alpine: "mysql", arch: "mysql" },
  mariadb: {
    debian: "mariadb-server",
    fedora: "mariadb-server",
    alpine: "mariadb",
    arch: "mariadb",
  },
  "postgres-client": {
    debian: "postgresql-client",
    fedora: "postgresql",
    alpine: "postgresql-client",
    arch: "postgresql",
  },
  "mariadb-client": {
    debian: "mariadb-client",
    fedora: "mariadb",
    alpine: "mariadb-client",
    arch: "mariadb-clients",
  },
};

/** What os-release(5) says of the system. */
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

/** The command that installs the engine or client there, or undefined for a system that is not known. */
export function installHint(name: ForeignEngine | ClientName, os: OsRelease): string | undefined {
  const family = familyOf(os);
  return family === undefined ? undefined : `${COMMANDS[family]} ${PACKAGES[name][family]}`;
}

function familyOf(os: OsRelease): Family | undefined {
  const ids = `${os.ID ?? ""} ${os.ID_LIKE ?? ""}`.split(" ");
  if (ids.includes("debian") || ids.includes("ubuntu")) return "debian";
  if (ids.includes("fedora") || ids.includes("rhel")) return "fedora";
  if (ids.includes("alpine")) return "alpine";
  if (ids.includes("arch")) return "arch";
  return undefined;
}
