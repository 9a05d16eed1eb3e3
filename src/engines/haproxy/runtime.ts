// HAProxy's runtime API: commands over its unix socket, which change what it does at once and for all connections.
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import type { Certificate, EngineContext } from "../engine.ts";
import type { EdgeTable, EdgeTarget, RouteUse } from "../edge.ts";
import { pemOf } from "./config.ts";
import { useIn } from "./counters.ts";
import { CERTIFICATE_FILE, confPath, MAPS, ROUTE_TABLE } from "./paths.ts";
import { policyOf, policyText, saysUsual, strictnessOf } from "./policy.ts";

type Context = EngineContext<EdgeSpec>;

/** HAProxy answers from memory. */
const TIMEOUT_MS = 5_000;

/** HAProxy reads a line of commands into a buffer of 16 kB. */
const MAX_LINE_LENGTH = 8_000;

/** A map holds the entries of all routes. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

/** Whether HAProxy answers. */
export async function isReady(context: Context): Promise<boolean> {
  try {
    return (await ask(context, "show version")).trim() !== "";
  } catch {
    // Starting, ending or gone: in each case not ready.
    return false;
  }
}

/** The contents of the maps. */
export async function readTable(context: Context): Promise<EdgeTable> {
  const [names, targets] = await Promise.all([readMap(context, MAPS.names), readMap(context, MAPS.targets)]);
  return {
    names,
    targets: new Map([...targets].map(([route, text]) => [route, targetOf(text)])),
  };
}

/** Brings the maps from one table to another; names lead to a route only once that route leads somewhere. */
export async function changeTable(context: Context, from: EdgeTable, to: EdgeTable): Promise<void> {
  const commands = [
    ...settings(MAPS.targets, from.targets, to.targets, textOf),
    ...settings(MAPS.names, from.names, to.names, (route) => route),
    ...removals(MAPS.names, from.names, to.names),
    ...removals(MAPS.targets, from.targets, to.targets),
  ];
  for (const line of lines(commands)) {
    const answer = (await ask(context, line)).trim();
    if (answer !== "") throw new Error(`HAProxy refused a change of its maps: ${answer.slice(0, 200)}`);
  }
}

/** The routes that were used lately. */
export async function readUsage(context: Context): Promise<Map<string, RouteUse>> {
  const table = (await ask(context, `show table ${ROUTE_TABLE}`)).split("\n");
  return new Map(table.flatMap((line) => [useIn(line.trimEnd())].filter((use) => use !== null)));
}

/** Shows new clients this certificate. */
export async function showCertificate(context: Context, certificate: Certificate): Promise<void> {
  const file = confPath(CERTIFICATE_FILE);
  await ask(context, `set ssl cert ${file} <<\n${pemOf(certificate)}`);
  const answer = await ask(context, `commit ssl cert ${file}`);
  if (!answer.includes("Success!"))
    throw new Error(`HAProxy refused a certificate: ${answer.trim().slice(0, 200)}`);
}

/** The contents of a map's file. */
export function mapFile(entries: Map<string, string>): string {
  return [...entries].map(([key, value]) => `${key} ${value}\n`).join("");
}

/** The entries of the map of targets. */
export function textsOf({ targets }: EdgeTable): Map<string, string> {
  return new Map([...targets].map(([route, target]) => [route, textOf(target)]));
}

function textOf(target: EdgeTarget): string {
  const { ports, timeoutSeconds, policy } = target;
  const lead = `${ports.length === 0 ? 0 : ports.join(",")}:${timeoutSeconds * 1_000}`;
  return `${lead}:${policyText(policy)}:${strictnessOf(target)}`;
}

function targetOf(text: string): EdgeTarget {
  const [ports = "", timeoutMs, ...policy] = text.split(":");
  const running = ports
    .split(",")
    .map(Number)
    .filter((port) => port > 0);
  return {
    ports: running,
    isAlone: saysUsual(text),
    timeoutSeconds: Number(timeoutMs ?? 0) / 1_000,
    policy: policyOf(policy),
  };
}

async function readMap(context: Context, map: string): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  // Each line is `IDENTIFIER KEY VALUE`.
  for (const line of (await ask(context, `show map ${confPath(map)}`)).split("\n")) {
    const [, key, value] = line.split(" ");
    if (key !== undefined && value !== undefined) entries.set(key, value);
  }
  return entries;
}

/** Of thousands of entries a few have changed, and the others are the same values, so texts are made of few. */
function settings<Value>(
  map: string,
  from: Map<string, Value>,
  to: Map<string, Value>,
  text: (value: Value) => string,
): string[] {
  const commands: string[] = [];
  for (const [key, value] of to) {
    const former = from.get(key);
    if (former === value || (former !== undefined && text(former) === text(value))) continue;
    commands.push(`${former === undefined ? "add" : "set"} map ${confPath(map)} ${key} ${text(value)}`);
  }
  return commands;
}

function removals(map: string, from: Map<string, unknown>, to: Map<string, unknown>): string[] {
  const commands: string[] = [];
  for (const key of from.keys()) if (!to.has(key)) commands.push(`del map ${confPath(map)} ${key}`);
  return commands;
}

/** Lines of several commands each. */
function lines(commands: string[]): string[] {
  const result: string[] = [];
  for (const command of commands) {
    const last = result.at(-1);
    if (last !== undefined && last.length + command.length < MAX_LINE_LENGTH) {
      result[result.length - 1] = `${last};${command}`;
    } else {
      result.push(command);
    }
  }
  return result;
}

/** Sends a line of commands, and returns all answers. HAProxy closes the connection after them. */
async function ask({ paths }: Context, command: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error("HAProxy does not answer.")), TIMEOUT_MS);
  let unsent = Buffer.from(`${command}\n`);
  const flush = (socket: Bun.Socket) => {
    unsent = unsent.subarray(Math.max(0, socket.write(unsent)));
  };
  const answer: Uint8Array[] = [];
  let length = 0;
  return await withSocket(paths.socket, async (unix) => {
    const socket = await Bun.connect({
      unix,
      socket: {
        open: flush,
        drain: flush,
        data: (_, bytes) => {
          length += bytes.length;
          if (length > MAX_ANSWER_BYTES) return reject(new Error("HAProxy's answer is too long."));
          answer.push(Uint8Array.from(bytes));
        },
        close: () => resolve(Buffer.concat(answer).toString()),
        error: (_, error) => reject(error),
      },
    });
    return await promise.finally(() => socket.terminate());
  }).finally(() => clearTimeout(timer));
}
