// A minimal client of Valkey or Redis: it sends a login and one command at once.
import type { Login } from "./clients.ts";
import { Refusal, Wire, type Place } from "./wire.ts";

/** The key of the command; `storeValue` sets it. */
const KEY = "bench:key";
const VALUE = "value";

/**
 * Connects, logs in and reads an existing value; the session stays open.
 * @throws Refusal with the error's first word.
 */
export async function askRedis(place: Place, login: Login): Promise<Wire> {
  return await ask(place, login, ["GET", KEY], `$${VALUE.length}\r\n${VALUE}\r\n`);
}

/** Stores the value that `askRedis` reads. */
export async function storeValue(place: Place, login: Login): Promise<void> {
  (await ask(place, login, ["SET", KEY, VALUE], "+OK\r\n")).close();
}

async function ask(
  place: Place,
  { username, password }: Login,
  words: string[],
  expected: string,
): Promise<Wire> {
  const wire = await Wire.open(place);
  try {
    wire.write(command(["AUTH", username, password]) + command(words));
    for (const answer of ["+OK\r\n", expected]) {
      const line = (await wire.readThrough("\r\n")).toString("latin1");
      if (line.startsWith("-")) throw refusalOf(line);
      const rest = (await wire.read(answer.length - line.length)).toString("latin1");
      if (line + rest !== answer) throw new Error(`${words[0]} was answered with ${line}${rest}`);
    }
    return wire;
  } catch (error) {
    wire.close();
    throw error;
  }
}

function refusalOf(line: string): Refusal {
  const message = line.slice(1).trim();
  return new Refusal(message.split(" ", 1)[0] ?? "", message);
}

function command(words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
