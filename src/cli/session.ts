// The session of a command: its inputs and outputs, and a client that is made when it is first needed.
import type { Command } from "commander";
import { PilviClient } from "../sdk/index.ts";
import type { Io } from "./io.ts";

/** The address of Pilvi and the token; found out lazily, as help and wrong usage need neither. */
export type Connect = () => Promise<{ url: string; token: string }>;

/** A program that opens sessions with databases, and the environment that it needs to run. */
export interface DatabaseProgram {
  path: string;
  env: Record<string, string>;
}

/** The protocol of a cluster. */
export type Protocol = "postgres" | "mysql";

/** Finds the program that speaks a protocol. @throws an error with how to install it when it is missing. */
type FindProgram = (protocol: Protocol) => Promise<DatabaseProgram>;

/** The session that every command gets. */
export interface Session {
  io: Io;
  client(): Promise<PilviClient>;
  /** The address of Pilvi, without a slash at its end. */
  url(): Promise<string>;
  /** The token, for connections that the client does not make. */
  token(): Promise<string>;
  findProgram: FindProgram;
}

/** A session whose client prints why it waits before it tries again. */
export function openSession(io: Io, connect: Connect, findProgram: FindProgram): Session {
  const pause = async (ms: number, reason: string, signal?: AbortSignal) => {
    // A short pause ends before a person could read about it.
    if (ms >= 1000) io.err(`Trying again in ${Math.round(ms / 1000)} s: ${reason}.\n`);
    await io.pause(ms, signal);
  };
  return {
    io,
    client: async () => new PilviClient({ ...(await connect()), pause }),
    url: async () => (await connect()).url.replace(/\/+$/, ""),
    token: async () => (await connect()).token,
    findProgram,
  };
}

/** Adds examples to the help of a command. */
export function withExamples(command: Command, examples: string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`);
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

/** A document as text for programs. */
export function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
