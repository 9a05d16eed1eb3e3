// The commands about applications: those of a linked folder, and those of applications and environments.
import type { Command } from "commander";
import type { Session } from "../session.ts";
import { addApps } from "./apps.ts";
import { addAttach, addDetach } from "./attach.ts";
import { addDeploy } from "./deploy.ts";
import { addDeployments, addRollback } from "./deployments.ts";
import { addEnv } from "./env.ts";
import { addEnvironments } from "./environments.ts";
import { addInstances } from "./instances.ts";
import { addInit } from "./init.ts";
import { addLife, addOpen, addStatus } from "./life.ts";
import { addProcesses } from "./processes.ts";
import { addRun } from "./run.ts";
import { addScale } from "./scale.ts";

/** Adds all commands about applications. */
export function addApplications(program: Command, session: Session): void {
  addInit(program, session);
  addDeploy(program, session);
  addStatus(program, session);
  addOpen(program, session);
  addDeployments(program, session);
  addRollback(program, session);
  addLife(program, session);
  addRun(program, session);
  addScale(program, session);
  addInstances(program, session);
  addProcesses(program, session);
  addEnv(program, session);
  addAttach(program, session);
  addDetach(program, session);
  addApps(program, session);
  addEnvironments(program, session);
}
