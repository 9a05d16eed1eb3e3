// For tests of commands: a server that speaks the documented shapes, and a terminal whose clock the test owns.
import { Command } from "commander";
import type { CacheResource } from "../sdk/index.ts";
import { addResourceCommands } from "./index.ts";
import type { Io } from "./io.ts";
import { printable } from "./printable.ts";
import { openSession } from "./session.ts";

/** The output of a command, and how the person at the terminal behaves. */
export interface FakeIo extends Io {
  stdout: string;
  stderr: string;
  /** Programs that were run, with the changes to their environment. */
  runs: { argv: string[]; env: Record<string, string | undefined> }[];
  exitCode: number;
  interrupt(): void;
}

/** Pipes by default; each pause advances the clock by its length. */
export function fakeIo(changes: Partial<Io> = {}): FakeIo {
  const interrupts = new Set<() => void>();
  let nowMs = 0;
  const io: FakeIo = {
    stdout: "",
    stderr: "",
    out: (text) => void (io.stdout += printable(text)),
    data: (text) => void (io.stdout += text),
    err: (text) => void (io.stderr += printable(text)),
    redraw: (line) => void (io.stderr += `\r\u001B[K${line}`),
    folder: "/no-such-folder",
    isInputTerminal: false,
    isErrTerminal: false,
    openTerminal: null,
    windowSize: () => ({ columns: 80, rows: 24 }),
    errColumns: 80,
    outColumns: Infinity,
    ask: async () => "",
    askHidden: async () => "",
    readInput: async () => "",
    onInterrupt(listener) {
      interrupts.add(listener);
      return () => void interrupts.delete(listener);
    },
    interrupt: () => interrupts.forEach((listener) => listener()),
    nowMs: () => nowMs,
    async pause(ms, signal) {
      nowMs += ms;
      signal?.throwIfAborted();
    },
    runs: [],
    exitCode: 0,
    run: async (argv, env) => {
      io.runs.push({ argv, env });
      return 3;
    },
    exitWith: (code) => void (io.exitCode = code),
    ...changes,
  };
  return io;
}

/** Runs a command line as the program would. @throws every error of the command. */
export async function runCommand(io: Io, url: string, ...args: string[]): Promise<void> {
  const program = new Command("pilvi")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  addResourceCommands(
    program,
    openSession(
      io,
      async () => ({ url, token: "secret-token" }),
      async (protocol) => ({ path: `/usr/bin/${protocol}`, env: { LD_LIBRARY_PATH: "/lib" } }),
    ),
  );
  await program.parseAsync(args, { from: "user" });
}

/** A cache as the API shows it. */
export function sampleCache(
  number: number,
  attributes: Partial<CacheResource["attributes"]> = {},
  lastError: string | null = null,
): CacheResource {
  const credentials = { username: "app", password: "p/w" };
  return {
    id: `cache-0199f0a2-6c3e-7d5b-9a41-${String(number).padStart(12, "0")}`,
    type: "caches",
    attributes: {
      name: "sessions",
      type: "platform_valkey",
      status: "available",
      region: "us-east-1",
      size: "valkey-flex-250mb",
      auto_upgrade_enabled: false,
      is_public: false,
      eviction_policy: "allkeys-lru",
      uses_hibernation: false,
      hibernation_timeout: 5,
      created_at: "2026-03-15T08:18:53.000000Z",
      connection: { hostname: "127.0.0.1", port: 20_000, protocol: "redis", "": credentials, ...credentials },
      ...attributes,
    },
    relationships: { environments: { data: [] } },
    meta: {
      former_credentials: null,
      backup: null,
      restore: null,
      origin: null,
      engine: { name: "valkey", version: "8.0.6", warning: null },
      limits: {
        memory_bytes: 262_144_000,
        total_memory_bytes: 926_941_184,
        max_processes: 64,
        enforced_by: "cgroup-v2",
      },
      sleep: { state: "awake", since: "2026-03-15T08:18:54.000Z", wakes: 0, last_wake: null, pending: false },
      last_error: lastError,
      overdue: false,
      storage_bytes: 41_943_040,
    },
  };
}
