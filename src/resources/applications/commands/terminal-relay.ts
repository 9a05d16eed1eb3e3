// Passes a terminal on between its client and the host. Both are bounded by what the other end has acknowledged, so
// nothing here grows; a client that breaks its bounds or has lost its rights ends with the command.
import {
  FAILED,
  GOING_AWAY,
  NORMAL,
  REFUSED,
  type ClientSocket,
  type SocketHandler,
} from "../../../api/operation/client-socket.ts";
import { readJsonAs } from "../../../contracts/read.ts";
import {
  clientFrameSchema,
  hostFrameSchema,
  MAX_CLIENT_FRAME,
  TERMINAL_WINDOW,
  type TerminalEnd,
  type TerminalSize,
} from "../../../contracts/terminal.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import type { CommandRow } from "./store.ts";
import { ClientPace, WindowSize } from "./terminal-pace.ts";

/** How often the rights of the client are checked, and for how long they hold while the store does not answer. */
const [CHECK_MS, UNCHECKED_MS] = [2_000, 15_000];

/** The pause before the host is asked again for a command that does not run yet, at first and later. */
const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [25, 500];

/** So many early frames become one; many small frames would take more memory than their bytes. */
const MAX_EARLY_FRAMES = 64;

type Driver = ServedHost["driver"];
type HostTerminal = Awaited<ReturnType<Driver["openTerminal"]>>;

/** What a relay needs. */
export interface RelayOptions {
  driver: Driver;
  log: KindContext["log"];
  /** The id of the command. */
  id: string;
  size: TerminalSize;
  /** The command as it is now. */
  find(): Promise<CommandRow | undefined>;
  /** Whether the client still has the rights that it had. */
  isAllowed(): Promise<boolean>;
  /** Aborted when the process ends. */
  closing: AbortSignal;
  /** Called once, at the end. @param isAbandoned whether there was a client, which the host never had. */
  onEnd(isAbandoned: boolean): void;
  checkMs?: number;
}

export class TerminalRelay implements SocketHandler {
  readonly #options: RelayOptions;
  readonly #size: WindowSize;
  readonly #pace = new ClientPace((to, acknowledged) => {
    if (to === "client") return this.#socket?.send(JSON.stringify({ acknowledged }));
    // No more was ever under way, so the host sees that a client acknowledges too much.
    this.#toHost(JSON.stringify({ acknowledged: Math.min(acknowledged, 2 * TERMINAL_WINDOW) }));
  });
  #socket: ClientSocket | null = null;
  #host: HostTerminal | null = null;
  /** Input that has come before the host has the terminal. */
  #early: Uint8Array[] = [];
  /** Bytes of input that the host has not acknowledged. */
  #unacknowledged = 0;
  #allowedAtMs = performance.now();
  #checks: ReturnType<typeof setInterval> | undefined;
  #isChecking = false;
  #isEnded = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#size = new WindowSize(options.size, (size) => this.#toHost(JSON.stringify(size)));
  }

  opened(socket: ClientSocket): void {
    this.#socket = socket;
    if (this.#options.closing.aborted) return this.#leave();
    this.#options.closing.addEventListener("abort", this.#leave);
    this.#checks = setInterval(() => void this.#check(), this.#options.checkMs ?? CHECK_MS);
    void this.#connect().catch((error: unknown) => {
      this.#options.log.warn({ error, command: this.#options.id }, "a terminal could not be opened");
      this.#end(FAILED, "The terminal could not be opened.");
    });
  }

  received(frame: string | Uint8Array): void {
    if (this.#isEnded) return;
    if (!this.#pace.take()) return this.#end(REFUSED, "Too many frames came at once.");
    if (typeof frame === "string") return this.#control(frame);
    this.#unacknowledged += frame.length;
    if (this.#unacknowledged > TERMINAL_WINDOW)
      return this.#end(REFUSED, "More input came than may be sent before it is acknowledged.");
    if (this.#host === null) this.#keepEarly(frame);
    else this.#toHost(frame);
  }

  closed(): void {
    this.#end(NORMAL, "");
  }

  #keepEarly(frame: Uint8Array): void {
    this.#early.push(frame);
    if (this.#early.length > MAX_EARLY_FRAMES) this.#early = [Buffer.concat(this.#early)];
  }

  /** A change of the size counts also before the host has the terminal. */
  #control(text: string): void {
    const frame = readOrNull(clientFrameSchema, text);
    if (frame === null) return this.#end(REFUSED, "A text frame is not as documented.");
    if ("columns" in frame) this.#size.change(frame);
    else if (this.#host !== null) this.#pace.acknowledge("host", frame.acknowledged);
  }

  #toHost(frame: string | Uint8Array): void {
    if (this.#isEnded || this.#host === null) return;
    if (this.#host.waitingBytes() > 2 * TERMINAL_WINDOW)
      return this.#end(REFUSED, "The host does not take the frames in time.");
    this.#host.send(frame);
  }

  /** Opens the terminal at the host, once the command runs there. */
  async #connect(): Promise<void> {
    const { find, driver, id } = this.#options;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isEnded; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
      const command = await find();
      if (command === undefined || command.finishedAt !== null) return this.#endWith(endOf(command));
      const build = await driver.observeBuild(id).catch(() => null);
      if (build?.state === "running" && (await this.#open())) return;
      await Bun.sleep(pauseMs);
    }
  }

  /** @returns false when the host refuses, as it does for a terminal that has had its client. */
  async #open(): Promise<boolean> {
    const { driver, id } = this.#options;
    const events = {
      received: (frame: string | Uint8Array) => this.#fromHost(frame),
      closed: () => this.#end(FAILED, "The connection to the host was lost."),
    };
    const size = this.#size.latest;
    const host = await driver.openTerminal(id, size, events).catch(() => null);
    if (host === null) return false;
    this.#host = host;
    if (this.#isEnded) {
      host.close();
      return true;
    }
    this.#size.opened(size);
    this.#sendEarly();
    return true;
  }

  /** The host takes no larger frames than a client may send. */
  #sendEarly(): void {
    const bytes = Buffer.concat(this.#early.splice(0));
    for (let at = 0; at < bytes.length; at += MAX_CLIENT_FRAME)
      this.#toHost(bytes.subarray(at, at + MAX_CLIENT_FRAME));
  }

  #fromHost(frame: string | Uint8Array): void {
    if (this.#isEnded) return;
    if (typeof frame !== "string") return this.#socket?.send(frame);
    const said = readOrNull(hostFrameSchema, frame);
    if (said === null) return this.#end(FAILED, "The host sent a frame that is not as agreed.");
    if ("exit_code" in said) return this.#endWith(said);
    if (!("acknowledged" in said)) return this.#socket?.send(frame);
    this.#unacknowledged -= said.acknowledged;
    this.#pace.acknowledge("client", said.acknowledged);
  }

  async #check(): Promise<void> {
    if (performance.now() - this.#allowedAtMs > UNCHECKED_MS)
      return this.#end(FAILED, "The rights to this command cannot be checked.");
    // A store that does not answer gets no further questions.
    if (this.#isChecking) return;
    this.#isChecking = true;
    const isAllowed = await this.#options.isAllowed().catch(() => null);
    this.#isChecking = false;
    if (isAllowed === false) return this.#end(REFUSED, "The rights to this command are gone.");
    if (isAllowed === true) this.#allowedAtMs = performance.now();
  }

  readonly #leave = () => this.#end(GOING_AWAY, "Pilvi is being restarted.");

  #endWith(end: TerminalEnd): void {
    if (!this.#isEnded) this.#socket?.send(JSON.stringify(end));
    this.#end(NORMAL, "");
  }

  /** Ends both connections; the host ends the command with its own. */
  #end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#checks);
    this.#pace.end();
    this.#size.end();
    this.#options.closing.removeEventListener("abort", this.#leave);
    this.#early = [];
    this.#host?.close();
    this.#socket?.close(code, reason);
    this.#options.onEnd(this.#socket !== null && this.#host === null);
  }
}

/** A frame; null when it is not as agreed. */
function readOrNull<T>(schema: Parameters<typeof readJsonAs<T>>[0], text: string): T | null {
  try {
    return readJsonAs(schema, text, "The frame");
  } catch {
    return null;
  }
}

function endOf(command: CommandRow | undefined): TerminalEnd {
  return {
    exit_code: command?.exitCode ?? null,
    reason: command?.failureReason ?? (command === undefined ? "The command was deleted." : null),
  };
}
