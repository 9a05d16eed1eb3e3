// The commands about applications: those of a linked folder, and those of applications and environments.
import type { Command } from "commander";
import type { Session } from "../session.ts";
import { addDeploy } from "./deploy.ts";
import { addInit } from "./init.ts";

/** Adds all commands about applications. */
export function addApplications(program: Command, session: Session): void {
  addInit(program, session);
  addDeploy(program, session);
}
