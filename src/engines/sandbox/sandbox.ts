// The sandbox of customers' processes: read-only system folders and nothing of Pilvi or of other customers, and no way to
// more rights. It comes on top of users and cgroups.
import { bubblewrapWords } from "./bubblewrap.ts";
import { landlockWords } from "./landlock.ts";

/** What this machine can do, as the host has found out by trying. */
export type Sandbox =
  | {
      /** Namespaces: processes and places of their own. */
      level: "bubblewrap";
      program: string;
      /** Whether folders in memory can have bounds; bubblewrap before 0.7 knows none. */
      boundsMemory: boolean;
      /** The folder that it shows as `/etc`, see etc-folder.ts; null for trials, which need none. */
      etc: string | null;
      /** What the program needs in its environment. */
      env: Record<string, string>;
    }
  | {
      /** Rules of the kernel for the paths of the machine, which stay as they are. */
      level: "landlock";
      /** The version of the kernel's rules. */
      abi: number;
      /** Whether customers' processes run as the user of Pilvi itself. */
      isUserShared: boolean;
      /** What programs need to get along with files that they see and cannot open. */
      env: Record<string, string>;
    }
  | { level: "none"; env: Record<string, never> };

/** A folder or file of the machine that a sandbox shows at a place. */
export interface Mount {
  /** Null for an empty folder in memory. */
  from: string | null;
  /** Only namespaces have it: elsewhere the folder stays where it is. */
  to: string;
  isWritable: boolean;
  /** The most bytes of a folder in memory; left out where all memory of the process is its bound. */
  maxBytes?: number;
}

/** What a sandbox shows beside the system. */
export interface View {
  mounts: readonly Mount[];
  links: readonly [target: string, place: string][];
  /** The folder for temporary files where the sandbox has none of its own. */
  temporary: string | null;
  /** The working directory inside. */
  directory: string;
  /** Whether bubblewrap ends with the process that starts it, as for builds; applications outlive the host. */
  endsWithParent: boolean;
}

/** No sandbox at all, for machines that allow none. */
export const NO_SANDBOX: Sandbox = { level: "none", env: {} };

/** A command inside a sandbox. The environment is that of the caller. */
export function sandboxed(sandbox: Sandbox, view: View, command: readonly string[]): string[] {
  switch (sandbox.level) {
    case "bubblewrap":
      return [...bubblewrapWords(sandbox, view), ...command];
    case "landlock":
      return [...landlockWords(sandbox, view), ...command];
    case "none":
      return ["/usr/bin/env", `--chdir=${view.directory}`, ...command];
  }
}

/** Whether a sandbox shows files at places of its own, such as a release at `/app`. */
export function hasOwnPlaces({ level }: Pick<Sandbox, "level">): boolean {
  return level === "bubblewrap";
}

/** Where a sandbox with places of its own shows the files that Pilvi has written for it. */
export const CONF_PLACE = "/run/pilvi";

/** The lists of users and groups among these files; `/etc` has links to them. */
export const NAME_FILES = ["passwd", "group"] as const;

type NameFile = (typeof NAME_FILES)[number];

/** Their content: programs ask for the name and the home of their own user, and for the name of its group. */
export function nameFiles({ uid, gid }: { uid: number; gid: number }): Record<NameFile, string> {
  return {
    passwd: `root:x:0:0:root:/:/bin/false\napp:x:${uid}:${gid}:app:/home/app:/bin/sh\n`,
    group: `root:x:0:\napp:x:${gid}:\n`,
  };
}
