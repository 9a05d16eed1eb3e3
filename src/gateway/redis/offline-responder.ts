// Answers a client's commands as long as no engine is needed.
import type { Backend } from "../backend.ts";
import type { ClientStream, Stream } from "../stream.ts";
import type { Answer } from "./answer.ts";
import { replaySession, replayIfRunning } from "./session-replay.ts";
import { answerOf, isKeepAlive, isLocal } from "./commands.ts";
import { loginOf, WRONG } from "./login.ts";
import { InputBuffer } from "./input-buffer.ts";
import { errorReply } from "./replies.ts";
import { parseCommand } from "./resp.ts";
import { isRight, type Session } from "./session.ts";
import { CommandFramer } from "./framer.ts";

/** How long a client may stay without a login, in milliseconds. */
export const LOGIN_MS = 10_000;
/** The most bytes of answers to a client before its login: it could send commands and never read. */
const PRE_AUTH_REPLY_BYTES = 16 * 1024;
/** The most bytes of commands that are read from a client before its login: empty commands get no answer. */
const PRE_AUTH_COMMAND_BYTES = 64 * 1024;
/** How many commands of a client are answered in a turn of the loop: in 64 KiB are 13,000 of them, and others wait. */
const COMMANDS_IN_TURN = 200;
/** How often a connection's wrong passwords refresh the users; the first refresh finds a changed password. */
const MAX_LOOKUPS = 3;

/** A client connected to an engine that has the client's session and its unanswered commands. */
export interface Attached<E extends Stream> {
  engine: E;
  /** The framer after the bytes that the engine has got already. */
  framer: CommandFramer;
  /** The session before these bytes. */
  session: Session;
}

export class OfflineResponder<C extends ClientStream, E extends Stream> {
  readonly #client: C;
  readonly #backend: Backend<C, E>;
  readonly #input = new InputBuffer();
  /** The session before the first command in the input buffer. */
  #session: Session;
  /** Answers that are written together. */
  #replies = "";
  #preAuthReplyBytes = 0;
  #preAuthCommandBytes = 0;
  #lookups = 0;
  /** Whether bytes have come since the engine was last thought of: a look at all of them for each would be quadratic. */
  #hasNews = false;

  constructor(client: C, backend: Backend<C, E>, session: Session) {
    this.#client = client;
    this.#backend = backend;
    this.#session = session;
  }

  /**
   * Answers commands until an engine is needed, or runs anyway.
   * @returns null when the client has to be closed.
   * @throws EngineError; EngineUnavailable; StreamEnded; TooManyClients.
   */
  async run(): Promise<Attached<E> | null> {
    const leave = this.#backend.parked.add(this.#client, () => this.#isLoginOver);
    try {
      return await this.#serve();
    } finally {
      leave();
    }
  }

  async #serve(): Promise<Attached<E> | null> {
    for (;;) {
      this.#input.append(await this.#client.readSome());
      this.#hasNews = true;
      const result = await this.#answerAll();
      this.#flush();
      if (result !== "goes on") return result;
    }
  }

  async #answerAll(): Promise<Attached<E> | null | "goes on"> {
    for (let count = 1; this.#input.length > 0; count += 1) {
      if (count % COMMANDS_IN_TURN === 0) await new Promise(setImmediate);
      const parsed = parseCommand(this.#input.view(), this.#session.login !== null);
      if (parsed.kind === "fault") {
        this.#replies += errorReply(`ERR Protocol error: ${parsed.message}`);
        return null;
      }
      if (parsed.kind === "large") return this.#replaySession();
      if (parsed.kind === "partial") {
        const isForEngine = this.#session.login !== null && parsed.name !== null && !isLocal(parsed.name);
        return isForEngine ? this.#replaySession() : "goes on";
      }
      const result = parsed.args.length === 0 ? "goes on" : await this.#answer(parsed.args);
      if (result !== "goes on") return result;
      this.#input.drop(parsed.end);
      if (this.#session.login === null) this.#preAuthCommandBytes += parsed.end;
      if (this.#preAuthReplyBytes > PRE_AUTH_REPLY_BYTES) return null;
      if (this.#preAuthCommandBytes > PRE_AUTH_COMMAND_BYTES) return null;
    }
    return "goes on";
  }

  /** Whether the client's password was right once and no longer is: it was changed, or its grace has ended. */
  get #isLoginOver(): boolean {
    const { login } = this.#session;
    return login !== null && !isRight(login, this.#backend.entry.users);
  }

  async #answer(args: string[]): Promise<Attached<E> | null | "goes on"> {
    const isLoginOver = this.#isLoginOver;
    if (isLoginOver && loginOf(args) === null) return this.#refuse();
    const answer = await this.#answerOf(args);
    if (answer === null) return this.#replaySession();
    const { login } = answer.session;
    if (login !== null && !isLoginOver && answer.isLast !== true && !isKeepAlive(args[0] ?? "")) {
      const attached = await this.#replayIfRunning();
      if (attached !== null) return attached;
    }
    this.#replies += answer.reply;
    this.#change(answer.session);
    if (login === null) this.#preAuthReplyBytes += answer.reply.length;
    return answer.isLast === true ? null : "goes on";
  }

  async #answerOf(args: string[]): Promise<Answer | null> {
    const answer = answerOf(args, this.#session, this.#backend.entry);
    if (answer?.isRefused !== true || this.#lookups >= MAX_LOOKUPS) return answer;
    this.#lookups += 1;
    await this.#backend.refreshUsers();
    return answerOf(args, this.#session, this.#backend.entry);
  }

  #change(next: Session): void {
    const wasPreAuth = this.#session.login === null;
    if (wasPreAuth && next.login !== null) this.#client.identified();
    this.#session = next;
    if (wasPreAuth !== (next.login === null)) this.#client.setDeadline(wasPreAuth ? null : LOGIN_MS);
  }

  /** Connects the client to the engine, for commands that only the engine can answer; never before a login. */
  async #replaySession(): Promise<Attached<E> | null> {
    if (this.#session.login === null) return null;
    if (this.#isLoginOver) return this.#refuse();
    this.#flush();
    this.#client.hasUnanswered = true;
    return this.#attached(await replaySession(this.#client, this.#backend, this.#session));
  }

  /** Connects the client to an engine that runs anyway, even for commands that the gateway could answer. */
  async #replayIfRunning(): Promise<Attached<E> | null> {
    if (!this.#hasNews) return null;
    this.#hasNews = false;
    const pending = this.#input.view();
    // A command that is use has to ask for the engine: an engine that only happens to run may be about to stop.
    if (new CommandFramer().walk(pending, pending.length)) return null;
    this.#client.identified();
    this.#flush();
    const engine = await replayIfRunning(this.#backend, this.#session);
    return engine === null ? null : this.#attached(engine);
  }

  #refuse(): null {
    this.#replies += WRONG;
    return null;
  }

  #attached(engine: E): Attached<E> {
    this.#client.setDeadline(null);
    const pending = this.#input.take();
    const framer = new CommandFramer();
    framer.walk(pending, pending.length);
    engine.write(pending);
    return { engine, framer, session: this.#session };
  }

  #flush(): void {
    if (this.#replies === "") return;
    this.#client.write(Buffer.from(this.#replies, "latin1"));
    this.#replies = "";
  }
}
