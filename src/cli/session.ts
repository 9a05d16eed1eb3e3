// What a command works with: its outside and a client that is made when it is first needed.
import type { Command } from "commander";
import { PilviClient } from "../sdk/index.ts";
import type { Io } from "./io.ts";

/** Where Pilvi is and who asks; found out lazily, as help and wrong usage need neither. */
export type Connect = () => Promise<{ url: string; token: string }>;

/** A program that opens sessions with databases, and what it needs in its environment to run. */
export interface DatabaseProgram {
  path: string;
  env: Record<string, string>;
}

/** What a cluster speaks. */
export type Protocol = "postgres" | "mysql";

/** Finds the program that speaks a protocol. @throws an error that tells how to install one when there is none. */
export type FindProgram = (protocol: Protocol) => Promise<DatabaseProgram>;

/** Given to every command. */
export interface Session {
  io: Io;
  client(): Promise<PilviClient>;
  findProgram: FindProgram;
}

/** A session whose client tells people why it waits before it asks again. */
export function openSession(io: Io, connect: Connect, findProgram: FindProgram): Session {
  const pause = async (ms: number, reason: string, signal?: AbortSignal) => {
    // Short pauses pass before anybody could read about them.
    if (ms >= 1000) io.err(`Trying again in ${Math.round(ms / 1000)} s: ${reason}.\n`);
    await io.pause(ms, signal);
  };
  return { io, client: async () => new PilviClient({ ...(await connect()), pause }), findProgram };
}

/** Adds examples to the help of a command. */
export function withExamples(command: Command, examples: string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`);
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

/** A document as programs read it. */
export function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
