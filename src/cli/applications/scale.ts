// `pilvi scale`: how many processes of each name run in the linked environment, and how large they are.
import { type Command, Option } from "commander";
import type { BackgroundProcessResource, InstanceResource } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";

interface ScaleOptions extends TargetOptions {
  scheduler?: "on" | "off";
  json?: true;
}

/** The name of the processes that serve, as in a Procfile. */
const WEB = "web";

/** A count from 1 to 99, a size, or both: `2`, `pro.g-1vcpu-2gb`, `2:pro.g-1vcpu-2gb`. */
const CHANGE = /^([^=]+)=(?:([1-9]\d?)(?::|$))?([a-z][a-z0-9.-]*)?$/;

/** A row that can be scaled: an instance, or a background process of the instance. */
interface Scaled {
  name: string;
  instance: InstanceResource;
  process: BackgroundProcessResource | null;
}

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
    const before = await scaledOf(target);
    // All changes are checked before the first is sent.
    const orders = changes.map((change) => orderOf(before, change));
    for (const order of orders) await send(target, order);
    if (options.scheduler !== undefined) await turnScheduler(target, before, options.scheduler === "on");
    const isChanged = orders.length > 0 || options.scheduler !== undefined;
    const rows = isChanged ? await scaledOf(target) : before;
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

async function scaledOf({ environments, environment }: Target): Promise<Scaled[]> {
  const instances = environments.instances(environment.id);
  const rows: Scaled[] = [];
  for (const instance of (await instances.list()).data) {
    const { name, type } = instance.attributes;
    rows.push({ name: type === "app" ? WEB : name, instance, process: null });
    const { data } = await instances.backgroundProcesses(instance.id).list();
    for (const process of data) rows.push({ name: nameOf(process), instance, process });
  }
  return rows;
}

/** An environment has one scheduler at most, so its type names it. */
function nameOf({ id, attributes: { type }, meta }: BackgroundProcessResource): string {
  return meta.procfile_name ?? (type === "scheduler" ? type : id);
}

interface Order {
  scaled: Scaled;
  count: number | undefined;
  size: string | undefined;
}

/** @throws CommandError for a change that cannot be read, or of a name that is not there. */
function orderOf(rows: readonly Scaled[], change: string): Order {
  const [, name, count, size] = CHANGE.exec(change) ?? [];
  if (name === undefined || (count === undefined && size === undefined))
    throw new CommandError(`${change} is no change. A change is NAME=COUNT, NAME=SIZE or NAME=COUNT:SIZE.`);
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
  rows: readonly Scaled[],
  isOn: boolean,
): Promise<void> {
  const instances = rows.filter(({ process }) => process === null).map(({ instance }) => instance);
  const present = instances.find(({ attributes }) => attributes.uses_scheduler);
  const changed = present ?? instances.find(({ attributes }) => attributes.type === "app");
  if (changed === undefined || isOn === (present !== undefined)) return;
  await environments.instances(environment.id).update(changed.id, { uses_scheduler: isOn });
}

const COLUMNS = ["NAME", "COUNT", "RUNNING", "SIZE", "COMMAND"];

/** A background process runs beside each replica of its instance, the scheduler once for all of them. */
function cellsOf({ name, instance, process }: Scaled): string[] {
  const { min_replicas: replicas, size } = instance.attributes;
  if (process === null) return [name, String(replicas), "", size, ""];
  const { processes, command, type } = process.attributes;
  const count = type === "scheduler" ? 1 : processes * replicas;
  return [name, String(processes), `${process.meta.running} of ${count}`, size, command];
}

function documentOf({ name, instance, process }: Scaled) {
  return { name, resource: process ?? instance };
}
