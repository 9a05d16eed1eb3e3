// The sandbox of customers' processes: a view of the machine with read-only system folders and nothing of Pilvi or of
// other customers, processes of its own, and no way to more rights. It comes on top of users and cgroups.
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import type { Isolation } from "../../contracts/application.ts";

/** What this machine can do, as the host has found out by trying. */
export interface Sandbox {
  level: Isolation;
  /** The words that start bubblewrap, and what it needs in its environment; null for a lower level. */
  bubblewrap: { program: string; env: Record<string, string> } | null;
}

/** A folder or file of the machine that a sandbox shows at a place. */
export interface Mount {
  /** Null for an empty folder in memory. */
  from: string | null;
  to: string;
  isWritable: boolean;
}

/** What a sandbox shows beside the system. */
export interface View {
  mounts: readonly Mount[];
  links: readonly [target: string, place: string][];
  /** The working directory inside. */
  directory: string;
  /** Whether all ends when the process ends that starts it, as for builds; applications outlive the host. */
  endsWithParent: boolean;
}

/** No sandbox at all, for machines that allow none. */
export const NO_SANDBOX: Sandbox = { level: "none", bubblewrap: null };

/** Folders of the system that programs need. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What programs read of `/etc`: names, certificates, time, and the loader's list. Nothing of it is secret. */
const SYSTEM_FILES = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "pki",
  "protocols",
  "resolv.conf",
  "services",
  "ssl",
].map((name) => `/etc/${name}`);

/**
 * A command inside a sandbox. The environment is that of the caller; the command sees `/tmp` and `/home/app` of its own
 * in memory.
 */
export function sandboxed({ bubblewrap }: Sandbox, view: View, command: readonly string[]): string[] {
  if (bubblewrap === null) return [...command];
  return [
    bubblewrap.program,
    "--unshare-user",
    // No further user namespaces inside: most holes of the kernel need the rights that these give.
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    "app",
    // The application has a session of its own, by which the next host knows it.
    "--new-session",
    ...(view.endsWithParent ? ["--die-with-parent"] : []),
    ...systemArguments(),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/home/app",
    ...view.mounts.flatMap(({ from, to, isWritable }) =>
      from === null ? ["--tmpfs", to] : [isWritable ? "--bind" : "--ro-bind", from, to],
    ),
    ...view.links.flatMap(([target, place]) => ["--symlink", target, place]),
    "--remount-ro",
    "/",
    "--chdir",
    view.directory,
    "--",
    ...command,
  ];
}

/** Where a system has `/bin` as a link into `/usr`, the sandbox has the same link. */
function systemArguments(): string[] {
  const folders = SYSTEM_FOLDERS.filter((path) => existsSync(path)).flatMap((path) =>
    lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path],
  );
  return [...folders, ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, path])];
}

/** The list of users inside a sandbox: programs ask for the name and the home of their own user. */
export function passwdFile({ uid, gid }: { uid: number; gid: number }): string {
  return `root:x:0:0:root:/:/bin/false\napp:x:${uid}:${gid}:app:/home/app:/bin/sh\n`;
}
