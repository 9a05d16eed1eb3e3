// The ends of engines that `pilvi up` sees while no host runs: how the host names the processes to watch, and the lines
// of the file in which the next host finds their ends.
import * as z from "zod/mini";

/** Begins the names of processes among the sockets that `pilvi up` keeps; no id of an instance has a space. */
const PREFIX = "process ";

/** A process of an engine. */
export interface EngineProcessName {
  id: string;
  pid: number;
}

export function processName({ id, pid }: EngineProcessName): string {
  return `${PREFIX}${id} ${pid}`;
}

/** The process that such a name is for; null for the name of a socket. */
export function processOf(name: string): EngineProcessName | null {
  if (!name.startsWith(PREFIX)) return null;
  const [id = "", pid = ""] = name.slice(PREFIX.length).split(" ");
  return { id, pid: Number(pid) };
}

/** A line of the file. */
export const engineEndSchema = z.strictObject({
  id: z.string().check(z.maxLength(64)),
  pid: z.int(),
  /** When it had ended, by the clock of the host. */
  at: z.iso.datetime(),
});

export type EngineEnd = z.infer<typeof engineEndSchema>;
