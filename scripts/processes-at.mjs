// Finds the processes that use a folder, and what a process does, from /proc.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The processes whose command line, working directory or open files point into the folder, as `{ pid, command }`. */
export function processesAt(folder) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: commandOf(name) }))
    .filter(({ pid, command }) => command.includes(folder) || opens(pid, folder));
}

/** What each thread of a process and its children do: a thread that hangs runs, or waits in the kernel. */
export function stateOf(pid) {
  const threads = orElse([], () => readdirSync(`/proc/${pid}/task`));
  const states = threads.map((thread) => {
    const read = (file) =>
      orElse("", () => readFileSync(`/proc/${pid}/task/${thread}/${file}`, "utf8").trim());
    const [state, ...fields] = read("stat").split(") ").at(-1).split(" ");
    return `${read("comm")} ${state} in ${read("wchan")}, ${fields[10]} and ${fields[11]} ticks`;
  });
  const children = orElse("", () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")).trim();
  const below = children === "" ? [] : children.split(" ").map(stateOf);
  return [`process ${pid}, ${commandOf(pid)}: ${states.join("; ")}`, ...below].join("\n");
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
