// `pilvi processes`: the background processes of an environment.
import type { Command } from "commander";
import type { BackgroundProcessChange, BackgroundProcesses } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { countingNumber, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { confirm, requireAnswer, withYes } from "../shared/delete.ts";
import { find } from "../shared/find.ts";
import { requireChange } from "../shared/update.ts";
import { table } from "../table.ts";
import { instanceKind } from "./kind.ts";
import { backgroundRowsOf, type BackgroundRow, runningText, WEB } from "./process-rows.ts";
import { commandOf } from "./run.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";
import { withWorkerOptions, workerConfigOf, type WorkerOptions } from "./worker-options.ts";

interface ProcessOptions extends TargetOptions, WorkerOptions {
  instance: string;
  processes: number;
  json?: true;
}

type UpdateOptions = Partial<ProcessOptions> & { command?: string };

const PROCESS = "its name in the Procfile, or its id";

/** Adds `processes` with its commands. */
export function addProcesses(program: Command, session: Session): void {
  const processes = program
    .command("processes")
    .description("list, create, change and delete the background processes of an environment");
  addProcessList(processes, session);
  addProcessCreate(processes, session);
  addProcessUpdate(processes, session);
  addProcessDelete(processes, session);
  withExamples(processes, ["pilvi processes list", "pilvi processes create node mail.js"]);
}

function addProcessList(processes: Command, session: Session): void {
  const command = processes
    .command("list")
    .description("list the background processes of the linked environment, the Procfile's too");
  withJson(withEnvironment(command)).action(async (options: TargetOptions & { json?: true }) => {
    const rows = await backgroundRowsOf(await targetOf(session, options));
    if (options.json === true) return session.io.out(jsonText({ data: rows.map(({ process }) => process) }));
    const empty = "There are no background processes. Create one with: pilvi processes create COMMAND\n";
    session.io.out(rows.length === 0 ? empty : tableOf(rows));
  });
  withExamples(command, ["pilvi processes list", "pilvi processes list --environment staging"]);
}

function addProcessCreate(processes: Command, session: Session): void {
  const command = processes
    .command("create")
    .description("create a background process, which runs beside each replica of an instance")
    .argument("[command...]", "its command; options of its own are passed on")
    .option("--instance <name>", "the instance that it belongs to, by name or id", WEB)
    .option("--processes <count>", "how many run beside each replica, 1 to 10", countingNumber, 1)
    .passThroughOptions();
  withWorkerOptions(command);
  withJson(withEnvironment(command)).action(async (words: string[], options: ProcessOptions) => {
    if ((options.worker === true) === words.length > 0)
      command.error("error: either a command or --worker is needed", { exitCode: 2 });
    const target = await targetOf(session, options);
    const { client, environments, environment } = target;
    const instance = (await find(instanceKind(environment), client, options.instance)).data;
    const { processes: count } = options;
    // The server checks the values.
    const config = workerConfigOf(options);
    const kind = options.worker === true ? { type: "worker" as const } : custom(commandOf(words));
    const created = await environments
      .instances(environment.id)
      .backgroundProcesses(instance.id)
      .create({ ...kind, processes: count, ...(config !== undefined && { config }) });
    if (options.json === true) return session.io.out(jsonText(created));
    session.io.out(tableOf([{ name: created.data.id, instance, process: created.data }]));
  });
  withExamples(command, [
    "pilvi processes create node mail.js",
    "pilvi processes create --instance jobs --processes 2 'node mail.js 2>&1'",
    "pilvi processes create --worker --queue high,low --tries 3",
  ]);
}

function addProcessUpdate(processes: Command, session: Session): void {
  const command = processes
    .command("update")
    .description("change a background process; of the Procfile's, the number alone")
    .argument("<name-or-id>", PROCESS)
    .option("--processes <count>", "how many run beside each replica, 1 to 10", countingNumber)
    .option("--command <command>", "another command, with which it starts anew");
  withWorkerOptions(command);
  withJson(withEnvironment(command)).action(async (nameOrId: string, options: UpdateOptions) => {
    if (options.worker === true && options.command !== undefined)
      command.error("error: --worker has its own command, so --command is no option beside it", {
        exitCode: 2,
      });
    requireChange(command, changeOf(options));
    const target = await targetOf(session, options);
    const row = await found(target, nameOrId);
    const changed = await processesOf(target, row).update(row.process.id, changeOf(options, row));
    if (options.json === true) return session.io.out(jsonText(changed));
    session.io.out(tableOf([{ ...row, process: changed.data }]));
  });
  withExamples(command, [
    "pilvi processes update worker --processes 3",
    "pilvi processes update process-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --rest 5",
  ]);
}

function addProcessDelete(processes: Command, session: Session): void {
  const command = processes
    .command("delete")
    .description("delete a background process; the Procfile's go with their lines")
    .argument("<name-or-id>", PROCESS);
  withYes(withEnvironment(command)).action(
    async (nameOrId: string, options: TargetOptions & { yes?: true }) => {
      requireAnswer(command, session, options);
      const target = await targetOf(session, options);
      const row = await found(target, nameOrId);
      const title = `the background process ${row.name} (${row.process.attributes.command})`;
      if (options.yes !== true) await confirm(session.io, title);
      await processesOf(target, row).delete(row.process.id);
      session.io.out(`Deleted ${title}.\n`);
    },
  );
  withExamples(command, ["pilvi processes delete process-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --yes"]);
}

/** @throws CommandError that lists the names when none is like that. */
async function found(target: Target, nameOrId: string): Promise<BackgroundRow> {
  const rows = await backgroundRowsOf(target);
  const row = rows.find(({ name, process }) => name === nameOrId || process.id === nameOrId);
  if (row !== undefined) return row;
  const names = rows.length === 0 ? "none" : rows.map(({ name }) => name).join(", ");
  throw new CommandError(`There is no background process ${nameOrId} here. There are: ${names}.`);
}

function processesOf(
  { environments, environment }: Target,
  { instance }: BackgroundRow,
): BackgroundProcesses {
  return environments.instances(environment.id).backgroundProcesses(instance.id);
}

function custom(command: string) {
  return { type: "custom" as const, command };
}

/** @param row what is changed: options of a worker that are not named stay, and a worker becomes a command. */
function changeOf(options: UpdateOptions, row?: BackgroundRow): BackgroundProcessChange {
  const { processes, command, worker } = options;
  const config = workerConfigOf(options);
  const { type, config: former } = row?.process.attributes ?? {};
  const kept = type === "worker" && !Array.isArray(former) ? former : {};
  return {
    ...(processes !== undefined && { processes }),
    ...(command !== undefined && (type === "worker" ? custom(command) : { command })),
    ...(worker === true && { type: "worker" as const }),
    ...(config !== undefined && { config: { ...kept, ...config } }),
  };
}

function tableOf(rows: readonly BackgroundRow[]): string {
  const cells = rows.map((row) => {
    const { type, processes, command } = row.process.attributes;
    const { name } = row.instance.attributes;
    return [row.name, name, type, String(processes), runningText(row), command];
  });
  return table([["NAME", "INSTANCE", "TYPE", "COUNT", "RUNNING", "COMMAND"], ...cells]);
}
