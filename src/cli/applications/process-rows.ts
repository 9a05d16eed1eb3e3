// What runs in an environment: its instances, and the background processes of each, with names for people.
import type { BackgroundProcessResource, InstanceResource } from "../../sdk/index.ts";
import type { Target } from "./target.ts";

/** The name of the processes that serve, as in a Procfile. */
export const WEB = "web";

/** An instance, or a background process of the instance. */
export interface ProcessRow {
  name: string;
  instance: InstanceResource;
  process: BackgroundProcessResource | null;
}

/** A background process with its instance. */
export type BackgroundRow = ProcessRow & { process: BackgroundProcessResource };

/** The instances of an environment, each before its background processes. */
export async function processRowsOf({ environments, environment }: Target): Promise<ProcessRow[]> {
  const instances = environments.instances(environment.id);
  const rows: ProcessRow[] = [];
  for await (const page of instances.pages())
    for (const instance of page.data) {
      const { name, type } = instance.attributes;
      rows.push({ name: type === "app" ? WEB : name, instance, process: null });
      for await (const { data } of instances.backgroundProcesses(instance.id).pages())
        for (const process of data) rows.push({ name: processName(process), instance, process });
    }
  return rows;
}

/** The background processes of an environment. */
export async function backgroundRowsOf(target: Target): Promise<BackgroundRow[]> {
  return (await processRowsOf(target)).filter((row): row is BackgroundRow => row.process !== null);
}

/** How many processes of a row run, of how many: beside each replica of its instance, the scheduler once for all. */
export function runningText({ instance, process }: BackgroundRow): string {
  const { processes, type } = process.attributes;
  const count = type === "scheduler" ? 1 : processes * instance.attributes.min_replicas;
  return `${process.meta.running} of ${count}`;
}

/** An environment has one scheduler at most, so its type names it. */
function processName({ id, attributes: { type }, meta }: BackgroundProcessResource): string {
  return meta.procfile_name ?? (type === "scheduler" ? type : id);
}
