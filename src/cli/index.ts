// The commands about resources, and the interfaces that the program needs to run them.
import type { Command } from "commander";
import { addActivity } from "./activity/index.ts";
import { addApplications } from "./applications/index.ts";
import { addBackups } from "./backups/index.ts";
import { addCaches } from "./caches/index.ts";
import { addDatabases } from "./databases/index.ts";
import { addEvents } from "./events/index.ts";
import { addLogs } from "./logs/index.ts";
import { addMembers } from "./members/index.ts";
import { addOrganization } from "./organization/index.ts";
import type { Session } from "./session.ts";
import { addTokens } from "./tokens/index.ts";
import { addUsage } from "./usage/index.ts";
import { addWebsockets } from "./websockets/index.ts";

export { CommandError, endingOf } from "./failure.ts";
export { processIo } from "./io.ts";
export { printable } from "./printable.ts";
export { type DatabaseProgram, type Protocol, openSession, withExamples } from "./session.ts";

/** Adds the commands of every kind of resource, of backups, of events, and of the organization with its members, tokens and use. */
export function addResourceCommands(program: Command, session: Session): void {
  addApplications(program, session);
  addCaches(program, session);
  addDatabases(program, session);
  addWebsockets(program, session);
  addBackups(program, session);
  addEvents(program, session);
  addLogs(program, session);
  addOrganization(program, session);
  addMembers(program, session);
  addTokens(program, session);
  addUsage(program, session);
  addActivity(program, session);
}
