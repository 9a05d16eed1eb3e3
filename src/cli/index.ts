// The commands about resources, and what the program needs to run them.
import type { Command } from "commander";
import { addCaches } from "./caches/index.ts";
import type { Session } from "./session.ts";

export { CommandFailure, endingOf } from "./failure.ts";
export { processIo } from "./io.ts";
export { openSession, withExamples } from "./session.ts";

/** Adds the commands of every kind of resource. */
export function addResourceCommands(program: Command, session: Session): void {
  addCaches(program, session);
}
