// The terminal of a command, and the one client that it has: bytes go both ways, as far as the other side takes them.
// Nothing of it outlives its client.
import {
  clientFrameSchema,
  TERMINAL_WINDOW,
  type HostFrame,
  type TerminalSize,
} from "../../contracts/terminal.ts";
import type { Build } from "../../contracts/builds.ts";
import { readJsonAs } from "../../contracts/read.ts";
import type { Account } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";
import { PseudoTerminal } from "../../lib/pseudo-terminal.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { BuildFailure, type Failure } from "./build-failures.ts";
import type { StepTerminal } from "./step-process.ts";
import { TerminalInput } from "./terminal-input.ts";

/** How long a command that could run waits for its client. */
const CLIENT_MS = 30_000;

/** A terminal without a byte of either side ends after so long. */
const IDLE_MINUTES = 30;

/** What a program has to end by itself after its hangup. */
const HANGUP_MS = 5_000;

/** How long the last output waits for a client that takes none of it. */
const LAST_OUTPUT_MS = 10_000;

/** The connection of the client. */
export interface TerminalLink {
  send(frame: string | Uint8Array): void;
  /** Ends it after all that was sent. */
  close(): void;
}

/** What tests make shorter. */
export interface TerminalTimes {
  clientMs?: number;
  idleMs?: number;
  hangupMs?: number;
}

export class TerminalSession {
  readonly #stop: (failure: Failure) => void;
  readonly #times: Required<TerminalTimes>;
  readonly #attached = Promise.withResolvers<void>();
  readonly #drained = Promise.withResolvers<void>();
  #size: TerminalSize | null = null;
  #link: TerminalLink | null = null;
  #pty: PseudoTerminal | null = null;
  readonly #input: TerminalInput;
  /** Bytes of output that the client has not acknowledged. */
  #unacknowledged = 0;
  #roomAgain = Promise.withResolvers<void>();
  #idle: ReturnType<typeof setTimeout> | undefined;
  #killing: ReturnType<typeof setTimeout> | undefined;
  /** Why it ends before its program; null as long as it does not. */
  #failure: Failure | null = null;
  #isClosed = false;
  /** Whether the program has ended, so that its exit code says how. */
  #hasExited = false;

  /** @param stop kills the command. */
  constructor(stop: (failure: Failure) => void, times: TerminalTimes = {}) {
    this.#stop = stop;
    this.#times = { clientMs: CLIENT_MS, idleMs: IDLE_MINUTES * 60_000, hangupMs: HANGUP_MS, ...times };
    this.#input = new TerminalInput((acknowledged) => this.#notify({ acknowledged }));
  }

  /** @throws BuildFailure when the terminal has ended before its program. */
  throwIfLost(): void {
    if (this.#failure !== null) throw new BuildFailure(this.#failure.code, this.#failure.message);
  }

  /** Keeps the one place for a client, whose connection `attach` then gives. @throws PublicError when it is taken. */
  reserve(size: TerminalSize): void {
    if (this.#size !== null) throw new PublicError("The terminal of the command has a client already.");
    this.#size = size;
  }

  attach(link: TerminalLink): void {
    this.#link = link;
    this.#attached.resolve();
  }

  /** The client is gone. */
  detach(): void {
    this.#link = null;
    this.#hangUp("The connection to the terminal was lost, so the command was ended.");
  }

  /** Takes a frame of the client. */
  receive(frame: string | Uint8Array): void {
    if (typeof frame === "string") return this.#control(frame);
    this.#idle?.refresh();
    if (!this.#input.add(frame)) this.#hangUp("The client sent more input than it may before it is taken.");
  }

  /** Waits for the client, and opens the terminal. @throws BuildFailure when no client comes. */
  async open(account: Account | null, signal: AbortSignal): Promise<StepTerminal> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const message = `No client has opened the terminal within ${this.#times.clientMs / 1000} s.`;
    const timer = setTimeout(() => reject(new BuildFailure("terminal", message)), this.#times.clientMs);
    try {
      await unlessAborted(Promise.race([this.#attached.promise, late]), signal);
    } finally {
      clearTimeout(timer);
    }
    this.throwIfLost();
    const pty = new PseudoTerminal(this.#size ?? { columns: 80, rows: 24 }, account);
    this.#pty = pty;
    this.#notify({ running: true });
    this.#input.open(pty);
    const idle = `Nothing was typed or shown for ${IDLE_MINUTES} minutes, so the command was ended.`;
    this.#idle = setTimeout(() => this.#hangUp(idle), this.#times.idleMs);
    void this.#pump(pty);
    return {
      slave: pty.slave,
      started: () => pty.started(),
      exited: () => (this.#hasExited = true),
      drained: () => this.#drainedInTime(),
    };
  }

  /** Resolves when the client has the last output, or takes no more of it. */
  async #drainedInTime(): Promise<void> {
    let before = -1;
    while (before !== this.#unacknowledged) {
      before = this.#unacknowledged;
      const isOver = await Promise.race([
        this.#drained.promise.then(() => true),
        Bun.sleep(LAST_OUTPUT_MS).then(() => false),
      ]);
      if (isOver) return;
    }
  }

  /** The command has ended: says so to the client, and leaves nothing of the terminal. */
  async end({ steps, failure, state }: Build): Promise<void> {
    clearTimeout(this.#killing);
    const reason = failure?.message ?? (state === "cancelled" ? "The command was cancelled." : null);
    const end = {
      exit_code: steps.at(-1)?.exitCode ?? null,
      reason: failure?.code === "step" ? null : reason,
    };
    this.#notify(end);
    const link = this.#link;
    this.#link = null;
    link?.close();
    await this.#close();
  }

  #control(text: string): void {
    const frame = readJsonAs(clientFrameSchema, text, "The frame");
    if ("acknowledged" in frame) {
      if (frame.acknowledged > this.#unacknowledged)
        return this.#hangUp("The client acknowledged more output than there was.");
      this.#unacknowledged -= frame.acknowledged;
      if (this.#unacknowledged < TERMINAL_WINDOW) this.#roomAgain.resolve();
      return;
    }
    this.#size = frame;
    this.#pty?.resize(frame);
  }

  async #pump(pty: PseudoTerminal): Promise<void> {
    for (;;) {
      await this.#room();
      const bytes = await pty.read();
      if (bytes === null || this.#link === null) return this.#drained.resolve();
      this.#idle?.refresh();
      this.#unacknowledged += bytes.length;
      this.#link.send(bytes);
    }
  }

  /** Resolves when the client may be sent more, or is gone. */
  async #room(): Promise<void> {
    while (this.#unacknowledged >= TERMINAL_WINDOW && this.#link !== null && !this.#isClosed) {
      this.#roomAgain = Promise.withResolvers();
      await this.#roomAgain.promise;
    }
  }

  #notify(frame: HostFrame): void {
    this.#link?.send(JSON.stringify(frame));
  }

  /** The program gets SIGHUP, and is killed when it goes on. */
  #hangUp(message: string): void {
    if (this.#isClosed) return;
    if (this.#hasExited) return void this.#close();
    const failure: Failure = { code: "terminal", message };
    this.#failure = failure;
    this.#attached.resolve();
    void this.#close();
    this.#killing = setTimeout(() => this.#stop(failure), this.#times.hangupMs);
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#idle = undefined;
    this.#input.close();
    this.#roomAgain.resolve();
    await this.#pty?.close();
  }
}
