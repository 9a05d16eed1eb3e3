// `pilvi instances`: the instances of an environment, each with a size and a number of replicas.
import type { Command } from "commander";
import type { InstanceResource, InstanceSizeList } from "../../sdk/index.ts";
import type { Io } from "../io.ts";
import { writeList } from "../list-text.ts";
import { countingNumber, nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { confirm, requireAnswer, withYes } from "../shared/delete.ts";
import { find } from "../shared/find.ts";
import { joined } from "../shared/list.ts";
import { addTypes, type TypesCommand } from "../shared/types.ts";
import { requireChange } from "../shared/update.ts";
import { table } from "../table.ts";
import { instanceKind } from "./kind.ts";
import { type Target, targetOf, type TargetOptions, withEnvironment } from "./target.ts";

interface InstanceOptions extends TargetOptions {
  name?: string;
  size?: string;
  replicas?: number;
  scheduler?: boolean;
  json?: true;
}

/** The size of an instance for which none is named, as that of the instance `App`. */
const DEFAULT_SIZE = "flex.g-1vcpu-512mb";

const NAME = "3 to 40 characters, unique in the environment";

const sizes: TypesCommand<InstanceSizeList> = {
  name: "sizes",
  description: "list the sizes of instances: processors and memory of each process",
  examples: ["pilvi instances sizes", "pilvi instances sizes --json | jq -r '.data.general[].name'"],
  read: (client) => client.applications.instanceSizes(),
  text({ data: { general } }) {
    const rows = general.map(({ name, description }) => [name, description]);
    return table([["SIZE", "EACH PROCESS"], ...rows]);
  },
};

/** Adds `instances` with its commands. */
export function addInstances(program: Command, session: Session): void {
  const instances = program
    .command("instances")
    .description("list, create, change and delete the instances of an environment");
  addInstanceList(instances, session);
  addInstanceCreate(instances, session);
  addInstanceUpdate(instances, session);
  addInstanceDelete(instances, session);
  addTypes(instances, session, sizes);
  withExamples(instances, ["pilvi instances list", "pilvi instances create jobs --replicas 2"]);
}

function addInstanceList(instances: Command, session: Session): void {
  const command = instances.command("list").description("list the instances of the linked environment");
  withJson(withEnvironment(command)).action(async (options: TargetOptions & { json?: true }) => {
    const { environments, environment } = await targetOf(session, options);
    const pages = await Array.fromAsync(environments.instances(environment.id).pages());
    if (options.json === true) return session.io.out(jsonText(joined(pages)));
    writeInstances(
      session.io,
      pages.flatMap(({ data }) => data),
    );
  });
  withExamples(command, ["pilvi instances list", "pilvi instances list --environment staging"]);
}

function addInstanceCreate(instances: Command, session: Session): void {
  const command = instances
    .command("create")
    .description("create an instance, which has background processes alone")
    .argument("<name>", NAME)
    .option("--size <size>", "processors and memory of each process", DEFAULT_SIZE);
  withScaling(command).action(async (name: string, options: InstanceOptions & { size: string }) => {
    const { environments, environment } = await targetOf(session, options);
    const { size } = options;
    const created = await environments
      .instances(environment.id)
      .create({ name, type: "service", size, scaling_type: "none", ...scalingOf(options) });
    if (options.json === true) return session.io.out(jsonText(created));
    writeInstances(session.io, [created.data]);
    session.io.err(`Add a background process with: pilvi processes create --instance '${name}' COMMAND\n`);
  });
  withExamples(command, [
    "pilvi instances create jobs",
    "pilvi instances create jobs --size pro.g-1vcpu-2gb --replicas 2",
  ]);
}

function addInstanceUpdate(instances: Command, session: Session): void {
  const command = instances
    .command("update")
    .description("change an instance; another size starts the release anew, without a gap")
    .argument("<name-or-id>", nameArgument("instance"))
    .option("--name <name>", NAME)
    .option("--size <size>", "processors and memory of each process");
  withScaling(command).action(async (nameOrId: string, options: InstanceOptions) => {
    const { name, size } = options;
    const change = { name, size, ...scalingOf(options) };
    requireChange(command, change);
    const target = await targetOf(session, options);
    const { id } = await found(target, nameOrId);
    const changed = await target.environments.instances(target.environment.id).update(id, change);
    if (options.json === true) return session.io.out(jsonText(changed));
    writeInstances(session.io, [changed.data]);
  });
  withExamples(command, [
    "pilvi instances update jobs --size flex.m-1vcpu-1gb",
    "pilvi instances update web --replicas 2 --scheduler",
  ]);
}

function addInstanceDelete(instances: Command, session: Session): void {
  const command = instances
    .command("delete")
    .description("delete an instance with its background processes")
    .argument("<name-or-id>", nameArgument("instance"));
  withYes(withEnvironment(command)).action(
    async (nameOrId: string, options: TargetOptions & { yes?: true }) => {
      requireAnswer(command, session, options);
      const target = await targetOf(session, options);
      const { id, attributes } = await found(target, nameOrId);
      const title = `the instance ${attributes.name} (${id})`;
      if (options.yes !== true) await confirm(session.io, title);
      await target.environments.instances(target.environment.id).delete(id);
      session.io.out(`Deleted ${title}.\n`);
    },
  );
  withExamples(command, ["pilvi instances delete jobs --yes"]);
}

function withScaling(command: Command): Command {
  command
    .option("--replicas <count>", "how many run, 1 to 10", countingNumber)
    .option("--scheduler", "run the scheduled work of Laravel each minute")
    .option("--no-scheduler", "do not run it");
  return withJson(withEnvironment(command));
}

/** The server checks the values. */
function scalingOf({ replicas, scheduler }: Pick<InstanceOptions, "replicas" | "scheduler">) {
  const scaling = { scaling_type: "custom" as const, min_replicas: replicas, max_replicas: replicas };
  return { ...(replicas !== undefined && scaling), uses_scheduler: scheduler };
}

async function found({ client, environment }: Target, nameOrId: string): Promise<InstanceResource> {
  return (await find(instanceKind(environment), client, nameOrId)).data;
}

function writeInstances(io: Io, instances: readonly InstanceResource[]): void {
  const rows = instances.map(({ id, attributes }) => {
    const { name, type, size, min_replicas: replicas, uses_scheduler: isScheduled } = attributes;
    return [name, type, size, String(replicas), isScheduled ? "yes" : "no", id];
  });
  writeList(io, ["NAME", "TYPE", "SIZE", "REPLICAS", "SCHEDULER", "ID"], rows);
}
