// Finds the processes that use a folder, from /proc.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The processes whose command line, working directory or open files point into the folder, as `{ pid, command }`. */
export function processesAt(folder) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: commandOf(name) }))
    .filter(({ pid, command }) => command.includes(folder) || opens(pid, folder));
}

/** Empty for a zombie, which has ended already. */
function commandOf(pid) {
  return orElse("", () => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim());
}

function opens(pid, folder) {
  const descriptors = orElse([], () => readdirSync(`/proc/${pid}/fd`));
  return ["cwd", ...descriptors.map((fd) => `fd/${fd}`)].some((link) => {
    const target = orElse("", () => readlinkSync(`/proc/${pid}/${link}`));
    return target === folder || target.startsWith(`${folder}/`);
  });
}

/** Processes end during the search, and processes of other users hide their files. */
function orElse(fallback, read) {
  try {
    return read();
  } catch {
    return fallback;
  }
}
