// The host's unix socket for the edge, which asks there for the instances that do not run.
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { MAX_WAKE_QUESTION, readWakeQuestion } from "../../contracts/edge-wake.ts";
import type { Log } from "../../lib/log.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import { canSwitchUsers } from "../os/accounts.ts";
import type { WakeQueue } from "./wake-queue.ts";

/** A connection of the edge, with what it has sent so far. */
interface Question {
  text: string;
  isAsked: boolean;
  left: AbortController;
}

export class WakeSocket {
  readonly #path: string;
  readonly #queue: WakeQueue;
  readonly #log: Log;
  #listener: Bun.UnixSocketListener<Question> | null = null;

  constructor(path: string, queue: WakeQueue, log: Log) {
    this.#path = path;
    this.#queue = queue;
    this.#log = log;
  }

  /** Begins to listen, for this user alone until `admit`. */
  listen(): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o711 });
    rmSync(this.#path, { force: true });
    this.#listener = Bun.listen<Question>({
      unix: socketAddress(this.#path),
      data: newQuestion(),
      socket: {
        open: (socket) => {
          socket.data = newQuestion();
        },
        data: (socket, bytes) => {
          const { data } = socket;
          data.text += Buffer.from(bytes).toString("latin1");
          if (data.text.length > MAX_WAKE_QUESTION || data.isAsked) return void socket.terminate();
          if (data.text.endsWith("\n")) void this.#answer(socket);
        },
        // The edge closes the connection when the client has left.
        end: (socket) => void socket.end(),
        close: ({ data }) => data.left.abort(),
        error: ({ data }) => data.left.abort(),
      },
    });
    chmodSync(this.#path, 0o600);
  }

  /** Lets the user of the edge ask. */
  admit(uid: number): void {
    if (canSwitchUsers()) chownSync(this.#path, uid, 0);
  }

  close(): void {
    this.#listener?.stop(true);
    this.#listener = null;
  }

  async #answer(socket: Bun.Socket<Question>): Promise<void> {
    const { data } = socket;
    data.isAsked = true;
    const question = readWakeQuestion(data.text.trimEnd());
    if (question === null) {
      // An edge of another version gets its configuration, and this version's question, at its next start.
      this.#log.warn("the edge asked in another version");
      return void socket.terminate();
    }
    const answer = await this.#queue.ask(question, data.left.signal);
    // The longest answer fits into the empty buffer of a socket.
    if (!data.left.signal.aborted) socket.end(`${answer}\n`);
  }
}

function newQuestion(): Question {
  return { text: "", isAsked: false, left: new AbortController() };
}
