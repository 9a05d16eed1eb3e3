// The options of a queue worker, for the commands that create and change background processes.
import type { Command } from "commander";
import type { NewBackgroundProcess } from "../../sdk/index.ts";
import { wholeNumber } from "../options.ts";

type WorkerConfig = NonNullable<NewBackgroundProcess["config"]>;

/** The values of those options. */
export interface WorkerOptions {
  worker?: true;
  connection?: string;
  queue?: string;
  tries?: number;
  backoff?: number;
  sleep?: number;
  rest?: number;
  jobTimeout?: number;
  force?: true;
}

/** Adds the options. */
export function withWorkerOptions(command: Command): Command {
  return command
    .option("--worker", "the queue worker of Laravel in place of a command")
    .option("--connection <name>", "of a worker: the connection to its queues")
    .option("--queue <names>", "of a worker: its queues, with commas between")
    .option("--tries <count>", "of a worker: how often a job is tried", wholeNumber)
    .option("--backoff <seconds>", "of a worker: how long until the next try", wholeNumber)
    .option("--sleep <seconds>", "of a worker: how long it waits without a job", wholeNumber)
    .option("--rest <seconds>", "of a worker: how long it waits after a job", wholeNumber)
    .option("--job-timeout <seconds>", "of a worker: how long a job may take", wholeNumber)
    .option("--force", "of a worker: it works in maintenance mode as well");
}

/** The config that the options say; undefined when they say nothing. */
export function workerConfigOf(options: WorkerOptions): WorkerConfig | undefined {
  const { connection, queue, tries, backoff, sleep, rest, jobTimeout: timeout, force } = options;
  const members = { connection, queue, tries, backoff, sleep, rest, timeout, force };
  const said = Object.entries(members).filter(([, value]) => value !== undefined);
  return said.length === 0 ? undefined : (Object.fromEntries(said) as WorkerConfig);
}
