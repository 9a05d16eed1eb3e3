// Runs the load tools that come with the engines, and reads their rates.
import { basename, dirname } from "node:path";
import { CannotMeasure } from "./bench.ts";
import type { Program } from "./peers.ts";
import type { Login } from "./clients.ts";
import type { Place } from "./wire.ts";

/** The instance under load, and the login. */
export interface Target {
  place: Place;
  login: Login;
  isTls: boolean;
}

/** Rows of the table that is read from, in hundreds of thousands. */
const SCALE = 10;
const SECONDS = 3;
/** Transactions wait for the disk, whose times differ more. */
const TRANSACTION_SECONDS = 5;
/** The number of connections that the tool opens by default. */
const VALKEY_CLIENTS = 50;

/** Makes the tables that `selectRate` reads. */
export async function fillTables(pgbench: Program, target: Target): Promise<void> {
  await run(pgbench, ["--initialize", "--quiet", `--scale=${SCALE}`], pgEnv(target));
}

/**
 * How many clients work at a time, and the number of threads they are spread over; the tool has one thread by default.
 */
export interface ClientLoad {
  clients: number;
  threads: number;
}

/** Transactions a second of clients that each read one row after another. */
export async function selectRate(pgbench: Program, target: Target, load: ClientLoad): Promise<number> {
  return await rateOf(pgbench, target, load, ["--select-only", `--time=${SECONDS}`]);
}

/** Transactions a second of clients that each change and read some rows, as the tool's own transactions do. */
export async function transactionRate(pgbench: Program, target: Target, load: ClientLoad): Promise<number> {
  return await rateOf(pgbench, target, load, [`--time=${TRANSACTION_SECONDS}`]);
}

async function rateOf(
  pgbench: Program,
  target: Target,
  { clients, threads }: ClientLoad,
  options: string[],
): Promise<number> {
  const args = [...options, "--no-vacuum", `--client=${clients}`, `--jobs=${threads}`];
  const printed = await run(pgbench, args, pgEnv(target));
  return numberIn(printed, /^tps = ([\d.]+) \(without initial connection time\)/m);
}

/**
 * Reads of a key a second.
 * @param pipeline requests that each client sends at a time.
 * @param requests the number of requests of all clients together.
 */
export async function getRate(
  benchmark: Program,
  { place, login, isTls }: Target,
  { pipeline, requests }: { pipeline: number; requests: number },
): Promise<number> {
  const at = "unix" in place ? ["-s", place.unix] : ["-h", place.hostname, "-p", String(place.port)];
  // The tool takes the password from its arguments alone; the instance of this password lives only for this
  // measurement.
  const who = ["--user", login.username, "-a", login.password];
  const tls = isTls ? ["--tls", "--insecure"] : [];
  const work = ["-t", "get", "-c", VALKEY_CLIENTS, "-P", pipeline, "-n", requests, "--csv"].map(String);
  const printed = await run(benchmark, [...at, ...who, ...tls, ...work], {});
  return numberIn(printed, /^"GET","([\d.]+)"/m);
}

function pgEnv({ place, login, isTls }: Target): Record<string, string> {
  const at =
    "unix" in place
      ? { PGHOST: dirname(place.unix), PGPORT: basename(place.unix).split(".").at(-1) ?? "" }
      : { PGHOST: place.hostname, PGPORT: String(place.port) };
  return {
    ...at,
    PGUSER: login.username,
    PGPASSWORD: login.password,
    PGDATABASE: login.database,
    PGSSLMODE: isTls ? "require" : "disable",
  };
}

async function run(program: Program, args: string[], env: Record<string, string>): Promise<string> {
  const child = Bun.spawn([...(program.loader ?? []), program.path, ...args], {
    env: { ...program.env, LC_ALL: "C", HOME: "/nonexistent", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return printed;
  throw new CannotMeasure(`${basename(program.path)} has failed: ${complaint.trim().slice(-1_000)}`);
}

function numberIn(printed: string, pattern: RegExp): number {
  const [, figure] = pattern.exec(printed) ?? [];
  if (figure === undefined)
    throw new CannotMeasure(`The load tool does not report a rate: ${printed.slice(-1_000)}`);
  return Number(figure);
}
