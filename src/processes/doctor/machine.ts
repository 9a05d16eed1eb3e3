// Checks the machine: the runtime, the system, rights, the data folder, the disk, limits.
import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config.ts";
import { readOsRelease } from "../../engines/install/hints.ts";
import { isBuildUserShared } from "../../host/provisioning/build-user.ts";
import { canGuardBinding } from "../../host/os/bind-guard.ts";
import { findCgroups } from "../../host/os/cgroup-backends.ts";
import { canReservePorts } from "../../host/os/cgroup.ts";
import { openFileLimit } from "../../lib/open-files.ts";
import { closedToEngines } from "../bootstrap/closed-folder.ts";
import { fail, type Finding, ok, unreachable, warn } from "./finding.ts";

const TESTED_BUN_MINOR = "1.4.";
const GIB = 2 ** 30;
const LOW_DISK_GIB = 5;
const NO_DISK_GIB = 1;
/** Every connection of a gateway or a WebSocket cluster is an open file. */
const GOOD_OPEN_FILES = 10_000;

/** @returns a finding for each thing. */
export function checkMachine(config: Config): Finding[] {
  const nearest = nearestFolder(config.dataDir);
  return [
    bunFinding(),
    systemFinding(),
    isolationFinding(),
    limitsFinding(config.dataDir),
    portGuardFinding(),
    reservedPortsFinding(config.dataDir),
    ...portSharingFindings(),
    ...buildUserFindings(),
    dataDirFinding(config.dataDir, nearest),
    diskFinding(nearest),
    openFilesFinding(),
  ];
}

function bunFinding(): Finding {
  const text = `Bun ${Bun.version}`;
  if (Bun.version.startsWith(TESTED_BUN_MINOR)) return ok(text);
  return warn(text, `Pilvi is tested with Bun ${TESTED_BUN_MINOR}x; \`npm ci\` installs it.`);
}

function systemFinding(): Finding {
  const text = `${readOsRelease().PRETTY_NAME ?? process.platform} on ${process.arch}`;
  if (process.platform === "linux" && ["x64", "arm64"].includes(process.arch)) return ok(text);
  return fail(text, "Pilvi runs on Linux on x64 and arm64.");
}

function isolationFinding(): Finding {
  if (process.getuid?.() === 0) return ok("run by root: every instance has a user of its own");
  return warn(
    "not run by root: all instances run as the same user as Pilvi, and are not kept from each other's files",
    "Run Pilvi as root to give every instance a user of its own.",
  );
}

function limitsFinding(dataDir: string): Finding {
  const cgroups = findCgroups(dataDir);
  if (cgroups !== null) return ok(`limits of memory and processes by ${cgroups.version}`);
  return warn(
    "no cgroups that may be written: one instance can take the memory and the processes of the whole machine",
    "Run Pilvi as root, on a system or in a container where /sys/fs/cgroup can be written.",
  );
}

/** A cache that listens by itself takes no open socket, so its port is shared for a moment at its start. */
function portGuardFinding(): Finding {
  if (canGuardBinding())
    return ok("the kernel refuses the port of a cache to other users while the cache starts");
  return warn(
    "while a cache that listens by itself starts, other users' programs can take its port for some 10 ms; `last_error` then says so",
    "Run Pilvi as root, on a kernel with BPF and cgroups of version 2, or let the caches hibernate: the gateway's ports are never free.",
  );
}

/** A port that a customer's process has taken can be given to no instance. */
function reservedPortsFinding(dataDir: string): Finding {
  if (canReservePorts(findCgroups(dataDir)))
    return ok(
      "the kernel refuses the ports of PILVI_PORT_RANGE to applications and builds, but for their own",
    );
  return warn(
    "applications and builds can take all ports of PILVI_PORT_RANGE, and then no instance gets any",
    "Run Pilvi as root, on a kernel with BPF and cgroups of version 2 that can be written.",
  );
}

/** A WebSocket server shares its port with its own user while it starts: that of all instances and of Pilvi here. */
function portSharingFindings(): Finding[] {
  if (process.getuid?.() === 0) return [];
  return [
    warn(
      "while a WebSocket cluster starts, other programs of this user can share its port, and then get some of its clients unnoticed",
      "Run Pilvi as root to give every cluster a user of its own, or run nothing else as this user.",
    ),
  ];
}

function buildUserFindings(): Finding[] {
  if (!isBuildUserShared()) return [];
  return [
    warn(
      "first data of databases is built by the user nobody, whom other programs may run as",
      "Install util-linux 2.36 or later and allow user namespaces, so that Pilvi builds as a user of its own.",
    ),
  ];
}

function dataDirFinding(dataDir: string, nearest: string): Finding {
  const text = `data folder ${dataDir}`;
  if (!statSync(nearest).isDirectory()) {
    return fail(`${text}: ${nearest} is not a folder`, "Set PILVI_DATA_DIR to another one.");
  }
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch {
    return fail(`${text} cannot be written to`, `Change the owner of ${nearest}, or set PILVI_DATA_DIR.`);
  }
  const closed = closedToEngines(nearest);
  return closed === undefined ? ok(text) : unreachable(text, closed, "PILVI_DATA_DIR");
}

/** The folder itself, or the lowest of its parents that exists. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

function diskFinding(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const freeGib = (bavail * bsize) / GIB;
  const text = `${freeGib.toFixed(1)} GiB free for data`;
  const advice = "Free some space, or set PILVI_DATA_DIR to a folder on a larger disk.";
  if (freeGib < NO_DISK_GIB) return fail(text, advice);
  return freeGib < LOW_DISK_GIB ? warn(text, advice) : ok(text);
}

function openFilesFinding(): Finding {
  const limit = openFileLimit();
  const text = `open files: ${Number.isFinite(limit) ? `at most ${limit}` : "unlimited"}`;
  if (limit >= GOOD_OPEN_FILES) return ok(text);
  return warn(text, `Raise the limit to ${GOOD_OPEN_FILES} or more; each connection takes one.`);
}
