// `pilvi scale`: how many processes of each name run in the linked environment, and how large they are.
import { type Command, Option } from "commander";
import { CommandError } from "../failure.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { processRowsOf, type ProcessRow, runningText } from "./process-rows.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";

interface ScaleOptions extends TargetOptions {
  scheduler?: "on" | "off";
  json?: true;
}

/** A count from 1 to 99, a size, or both: `2`, `pro.g-1vcpu-2gb`, `2:pro.g-1vcpu-2gb`. */
const CHANGE = /^([^=]+)=(?:([1-9]\d?)(?::|$))?([a-z][a-z0-9.-]*)?$/;

/** Adds `scale`. */
export function addScale(program: Command, session: Session): void {
  const command = program
    .command("scale")
    .description("show or change how many processes of the linked environment run")
    .argument("[changes...]", "NAME=COUNT, NAME=SIZE or NAME=COUNT:SIZE; `web` serves requests")
    .addOption(
      new Option("--scheduler <state>", "run the scheduled work of Laravel each minute").choices([
        "on",
        "off",
      ]),
    );
  withJson(withEnvironment(command)).action(async (changes: string[], options: ScaleOptions) => {
    const target = await targetOf(session, options);
    const before = await processRowsOf(target);
    // All changes are checked before the first is sent.
    const orders = changes.map((change) => orderOf(before, change));
    for (const order of orders) await send(target, order);
    if (options.scheduler !== undefined) await turnScheduler(target, before, options.scheduler === "on");
    const isChanged = orders.length > 0 || options.scheduler !== undefined;
    const rows = isChanged ? await processRowsOf(target) : before;
    if (options.json === true) return session.io.out(jsonText({ data: rows.map(documentOf) }));
    session.io.out(table([COLUMNS, ...rows.map(cellsOf)]));
  });
  withExamples(command, [
    "pilvi scale",
    "pilvi scale web=2 worker=3",
    "pilvi scale web=2:flex.m-1vcpu-1gb",
    "pilvi scale --scheduler on",
  ]);
}

interface Order {
  scaled: ProcessRow;
  count: number | undefined;
  size: string | undefined;
}

/** @throws CommandError for a change that cannot be read, or of a name that is not there. */
function orderOf(rows: readonly ProcessRow[], change: string): Order {
  const [, name, count, size] = CHANGE.exec(change) ?? [];
  if (name === undefined || (count === undefined && size === undefined))
    throw new CommandError(
      `${change} is no change. A change is NAME=COUNT, NAME=SIZE or NAME=COUNT:SIZE.`,
      2,
    );
  const scaled = rows.find((row) => row.name === name);
  if (scaled === undefined) {
    const names = rows.map((row) => row.name).join(", ");
    throw new CommandError(`Nothing is named ${name} here. There are: ${names}.`);
  }
  if (scaled.process !== null && size !== undefined)
    throw new CommandError(`${name} has the size of its instance ${scaled.instance.attributes.name}.`);
  return { scaled, count: count === undefined ? undefined : Number(count), size };
}

/** The server checks the values. */
async function send({ environments, environment }: Target, { scaled, count, size }: Order): Promise<void> {
  const instances = environments.instances(environment.id);
  const { instance, process } = scaled;
  if (process !== null) {
    await instances.backgroundProcesses(instance.id).update(process.id, { processes: count });
    return;
  }
  const replicas = count === undefined ? {} : { min_replicas: count, max_replicas: count };
  const scaling = count === undefined ? {} : { scaling_type: "custom" as const };
  await instances.update(instance.id, { ...scaling, ...replicas, ...(size !== undefined && { size }) });
}

/** The scheduler begins beside what serves requests, and ends wherever it is. */
async function turnScheduler(
  { environments, environment }: Target,
  rows: readonly ProcessRow[],
  isOn: boolean,
): Promise<void> {
  const instances = rows.filter(({ process }) => process === null).map(({ instance }) => instance);
  const present = instances.find(({ attributes }) => attributes.uses_scheduler);
  const changed = present ?? instances.find(({ attributes }) => attributes.type === "app");
  if (changed === undefined || isOn === (present !== undefined)) return;
  await environments.instances(environment.id).update(changed.id, { uses_scheduler: isOn });
}

const COLUMNS = ["NAME", "COUNT", "RUNNING", "SIZE", "COMMAND"];

function cellsOf(row: ProcessRow): string[] {
  const { name, instance, process } = row;
  const { min_replicas: replicas, size } = instance.attributes;
  if (process === null) return [name, String(replicas), "", size, ""];
  const { processes, command } = process.attributes;
  return [name, String(processes), runningText({ ...row, process }), size, command];
}

function documentOf({ name, instance, process }: ProcessRow) {
  return { name, resource: process ?? instance };
}
