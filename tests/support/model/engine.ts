// An engine at a unix socket that echoes messages when the model lets it: a model of the engines behind the gateway.
import { rmSync } from "node:fs";
import { addressOf, AF_UNIX, libc, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM } from "../wire/libc.ts";
import { Peer } from "../gateway/loop.ts";

const STREAM = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
/** The login of a connection, and its answer. */
export const [LOGIN, WELCOME] = ["L", "l"] as const;
/** A connection that cancels another connection's query; the engine closes it. */
export const CANCEL = "C";

class Session {
  readonly peer: Peer;
  #read = 0;

  constructor(fd: number) {
    this.peer = new Peer(fd);
  }

  get isCancel(): boolean {
    return this.peer.receiveAll().received[0] === CANCEL.charCodeAt(0);
  }

  /** Whether a message is unanswered, or has arrived in part. */
  get isBusy(): boolean {
    return !this.isCancel && this.peer.receiveAll().received.length > this.#read;
  }

  /** Answers a message. */
  goOn(): void {
    const unread = this.peer.receiveAll().received.subarray(this.#read);
    const [first] = unread;
    if (first === undefined) return;
    const length = this.#read === 0 ? 1 : 1 + first;
    if (unread.length < length) return;
    const isLogin = this.#read === 0;
    this.#read += length;
    this.peer.send(isLogin ? WELCOME : unread.subarray(0, length));
  }
}

export class ModelEngine {
  readonly #fd = libc.socket(AF_UNIX, STREAM, 0);
  readonly #path: string;
  readonly #sessions = new Set<Session>();
  readonly #onCut: () => void;

  /** Accepts connections from here on. @param onCut called when a session is closed in the middle of a message. */
  constructor(path: string, backlog: number, onCut: () => void) {
    this.#path = path;
    this.#onCut = onCut;
    rmSync(path, { force: true });
    const name = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(`${path}\0`)]);
    if (libc.bind(this.#fd, addressOf(name), name.length) < 0 || libc.listen(this.#fd, backlog) < 0) {
      throw new Error("an engine could not be started");
    }
  }

  /** Accepts new connections, and drops ended ones. */
  accept(): void {
    for (;;) {
      const fd = libc.accept4(this.#fd, null, null, STREAM & ~SOCK_STREAM);
      if (fd < 0) break;
      this.#sessions.add(new Session(fd));
    }
    for (const session of this.#sessions) {
      if (session.peer.receiveAll().end === null) continue;
      if (session.isBusy) this.#onCut();
      this.#close(session);
    }
  }

  get sessions(): number {
    this.accept();
    return this.#sessions.size;
  }

  get isBusy(): boolean {
    this.accept();
    return this.#sessions.values().some((session) => session.isBusy);
  }

  /** @param isChosen of each session, whether it answers a message now. */
  goOn(isChosen: () => boolean): void {
    this.accept();
    for (const session of this.#sessions) {
      if (!isChosen()) continue;
      if (session.isCancel) this.#close(session);
      else session.goOn();
    }
  }

  /** Ends at once, with everything that is under way. */
  end(): void {
    libc.close(this.#fd);
    rmSync(this.#path, { force: true });
    for (const { peer } of this.#sessions) peer.close();
    this.#sessions.clear();
  }

  #close(session: Session): void {
    session.peer.close();
    this.#sessions.delete(session);
  }
}
