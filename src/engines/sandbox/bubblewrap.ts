// The words of bubblewrap, which makes a view of the machine out of namespaces.
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import type { Mount, Sandbox, View } from "./sandbox.ts";
import { ETC_FOLDERS, SYSTEM_FOLDERS } from "./system.ts";

type Bubblewrap = Extract<Sandbox, { level: "bubblewrap" }>;

/** The words before a command, which sees `/tmp` and `/home/app` of its own in memory. */
export function bubblewrapWords({ program, etc }: Bubblewrap, view: View): string[] {
  return [
    program,
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
    ...(etc === null ? [] : etcArguments(etc)),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/home/app",
    ...view.mounts.flatMap(mountArguments),
    ...view.links.flatMap(([target, place]) => ["--symlink", target, place]),
    "--remount-ro",
    "/",
    "--chdir",
    view.directory,
    "--",
  ];
}

function mountArguments({ from, to, isWritable, maxBytes }: Mount): string[] {
  if (from !== null) return [isWritable ? "--bind" : "--ro-bind", from, to];
  return [...(maxBytes === undefined ? [] : ["--size", String(maxBytes)]), "--tmpfs", to];
}

/** Where a system has `/bin` as a link into `/usr`, the sandbox has the same link. */
function systemArguments(): string[] {
  return SYSTEM_FOLDERS.filter((path) => existsSync(path)).flatMap((path) =>
    lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path],
  );
}

function etcArguments(etc: string): string[] {
  const folders = ETC_FOLDERS.map((name) => `/etc/${name}`).filter((path) => existsSync(path));
  return ["--ro-bind", etc, "/etc", ...folders.flatMap((path) => ["--ro-bind", path, path])];
}
