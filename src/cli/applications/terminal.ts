// The client of a command's terminal: this terminal is handed over to the command until one of both ends.
import { CommandError } from "../failure.ts";
import type { LocalTerminal, TerminalListener, WindowSize } from "../local-terminal.ts";

/** The most bytes of a frame, and of keys that are under way before no more are read. */
const [MAX_FRAME, MAX_UNDER_WAY] = [32 * 1024, 128 * 1024];

/** Shown bytes are acknowledged when there are so many of them. */
const ACKNOWLEDGED_AT = 64 * 1024;

/** How often Pilvi is asked for a sign of life, and after how much silence the connection counts as lost. */
const [PING_MS, SILENCE_MS] = [10_000, 35_000];

const CTRL_C = 3;

/** The exit codes of a program that was cut off, and of a signal. */
const [LOST, INTERRUPTED] = [255, 130];
const SIGNALS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGQUIT: 131,
  SIGTERM: 143,
};

/** The end of a command, as its last frame has it. */
export interface RemoteEnd {
  exit_code: number | null;
  reason: string | null;
}

/** The command whose terminal is opened. */
export interface TerminalTarget {
  /** The address of Pilvi. */
  url: string;
  token: string;
  id: string;
}

/**
 * Opens the terminal of a command, and hands this terminal over until the end.
 * @throws CommandError when the terminal cannot be opened, or ends before the command.
 */
export async function openRemoteTerminal(
  open: (listener: TerminalListener) => LocalTerminal,
  target: TerminalTarget,
  size: WindowSize,
): Promise<RemoteEnd> {
  return await new RemoteTerminal(open, target, size).ended;
}

class RemoteTerminal {
  readonly #open: (listener: TerminalListener) => LocalTerminal;
  readonly #socket: WebSocket;
  readonly #ended = Promise.withResolvers<RemoteEnd>();
  #local: LocalTerminal | null = null;
  /** All output so far, as the local terminal takes it. */
  #shown: Promise<void> = Promise.resolve();
  #unacknowledged = 0;
  #underWay = 0;
  #isRunning = false;
  #isOver = false;
  #lastSignMs = performance.now();
  readonly #pings: ReturnType<typeof setInterval>;

  constructor(
    open: (listener: TerminalListener) => LocalTerminal,
    { url, token, id }: TerminalTarget,
    { columns, rows }: WindowSize,
  ) {
    this.#open = open;
    const address = `${url.replace(/^http/, "ws")}/api/commands/${encodeURIComponent(id)}/terminal`;
    this.#socket = new WebSocket(`${address}?columns=${columns}&rows=${rows}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    this.#socket.binaryType = "nodebuffer";
    this.#socket.addEventListener("open", () => this.#opened());
    this.#socket.addEventListener("message", ({ data }: MessageEvent<string | Buffer>) =>
      this.#received(data),
    );
    // The close that follows says all.
    this.#socket.addEventListener("error", () => undefined);
    this.#socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
    for (const sign of ["ping", "pong"]) this.#socket.addEventListener(sign, () => this.#noteSign());
    this.#pings = setInterval(() => this.#ping(), PING_MS);
  }

  get ended(): Promise<RemoteEnd> {
    return this.#ended.promise;
  }

  #opened(): void {
    if (this.#isOver) return;
    this.#local = this.#open({
      typed: (bytes) => this.#typed(bytes),
      resized: (size) => this.#send(JSON.stringify(size)),
      ended: (signal) => this.#interrupt(signal),
    });
  }

  #typed(bytes: Uint8Array): void {
    // A command that waits for its turn has no keys yet.
    if (!this.#isRunning && bytes.includes(CTRL_C)) return this.#interrupt("SIGINT");
    for (let at = 0; at < bytes.length; at += MAX_FRAME) this.#send(bytes.slice(at, at + MAX_FRAME));
    this.#underWay += bytes.length;
    if (this.#underWay >= MAX_UNDER_WAY) this.#local?.read(false);
  }

  #received(frame: string | Buffer): void {
    this.#noteSign();
    if (typeof frame === "string") return this.#control(frame);
    this.#shown = this.#show(frame, this.#shown);
  }

  async #show(bytes: Buffer, former: Promise<void>): Promise<void> {
    await former;
    await this.#local?.show(bytes);
    this.#acknowledge(bytes.length);
  }

  async #afterOutput(work: () => void): Promise<void> {
    await this.#shown;
    work();
  }

  #control(text: string): void {
    const frame = JSON.parse(text) as Partial<RemoteEnd> & { running?: true; acknowledged?: number };
    if (frame.running === true) this.#isRunning = true;
    if (frame.acknowledged !== undefined) {
      this.#underWay -= frame.acknowledged;
      if (this.#underWay < MAX_UNDER_WAY) this.#local?.read(true);
    }
    if (frame.exit_code === undefined) return;
    const end = { exit_code: frame.exit_code, reason: frame.reason ?? null };
    void this.#afterOutput(() => this.#end(end));
  }

  #acknowledge(bytes: number): void {
    this.#unacknowledged += bytes;
    if (this.#unacknowledged < ACKNOWLEDGED_AT) return;
    this.#send(JSON.stringify({ acknowledged: this.#unacknowledged }));
    this.#unacknowledged = 0;
  }

  #send(frame: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame);
  }

  #closed(code: number, reason: string): void {
    // What came before is shown first, and may have been the end.
    const text = this.#local === null ? NOT_OPENED : lossText(code, reason);
    void this.#afterOutput(() => this.#fail(text, LOST));
  }

  #interrupt(signal: NodeJS.Signals | null): void {
    const text =
      signal === null
        ? "The input has ended, and the command with it."
        : "Interrupted. The command was ended.";
    this.#fail(text, signal === null ? LOST : (SIGNALS[signal] ?? INTERRUPTED));
  }

  #noteSign(): void {
    this.#lastSignMs = performance.now();
  }

  #ping(): void {
    if (performance.now() - this.#lastSignMs > SILENCE_MS) return this.#fail(lossText(0, ""), LOST);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #end(end: RemoteEnd): void {
    if (this.#isOver) return;
    this.#leave(end.exit_code === null);
    this.#ended.resolve(end);
  }

  #fail(text: string, exitCode: number): void {
    if (this.#isOver) return;
    this.#leave(true);
    this.#ended.reject(new CommandError(text, exitCode));
  }

  #leave(isCutOff: boolean): void {
    this.#isOver = true;
    clearInterval(this.#pings);
    this.#local?.close(isCutOff);
    this.#socket.close(1000);
    // A server that is gone does not answer the close.
    setTimeout(() => this.#socket.terminate(), 500).unref();
  }
}

const NOT_OPENED =
  "The terminal of the command could not be opened. Between here and Pilvi, WebSockets must get through; `--no-terminal` needs none.";

function lossText(code: number, reason: string): string {
  if (reason !== "") return `The terminal was closed, and the command ended: ${reason}`;
  const detail = code > 1000 && code !== 1006 ? ` (code ${code})` : "";
  return `The connection to the terminal was lost, and the command is being ended${detail}.`;
}
