// A session from the proof of the password to its end. A session without a first query survives the engine's sleep.
import type { Backend, SpliceEnd } from "../backend.ts";
import type { ClientStream, Stream } from "../stream.ts";
import type { Authenticated } from "./authenticate.ts";
import type { CancelKeys, ClientKey } from "./cancel-keys.ts";
import type { LoggedIn, Proof } from "./engine-login.ts";
import { ProtocolError, SQLSTATE } from "./errors.ts";
import { logIn } from "./login.ts";
import { backendKeyData } from "./messages.ts";
import type { Startup } from "./startup-packet.ts";
import { FrontendFramer, TERMINATE } from "./framer.ts";

/** The first version of the protocol with cancel keys longer than four bytes. */
const VERSION_OF_LONG_KEYS = 0x3_0002;

/** The data to begin a session once more. */
interface Beginning {
  startup: Startup;
  proof: Proof;
}

export class Session<C extends ClientStream, E extends Stream> {
  readonly #client: C;
  readonly #backend: Backend<C, E>;
  readonly #keys: CancelKeys;
  /**
   * Kept until the client's first message. Before it the engine's session has no state to lose, so a new client, or a
   * spare connection of a pool, does not notice that the engine went to sleep.
   */
  #beginning: Beginning | null = null;
  #engine: E | null = null;
  /** The engine's process of the session. */
  #pid = 0;
  #key: ClientKey | null = null;

  private constructor(client: C, backend: Backend<C, E>, keys: CancelKeys) {
    this.#client = client;
    this.#backend = backend;
    this.#keys = keys;
  }

  /**
   * Logs in at the engine, and welcomes the client. The data of the login is not kept longer than needed.
   * @throws EngineError, EngineUnavailable, ProtocolError, StreamEnded.
   */
  static async begin<C extends ClientStream, E extends Stream>(
    client: C,
    backend: Backend<C, E>,
    keys: CancelKeys,
    startup: Startup,
    authenticated: Authenticated<E>,
  ): Promise<Session<C, E>> {
    const session = new Session(client, backend, keys);
    session.#welcome(await logIn(client, backend, startup, authenticated), startup);
    // A client whose session begins once more has been welcomed already, and expects only answers and errors.
    session.#beginning = { startup, proof: { ...authenticated.proof, welcome: new Uint8Array() } };
    return session;
  }

  /** Passes on the bytes of both sides, up to the end of the session. @throws as `begin`. */
  async run(): Promise<void> {
    try {
      let end = await this.#pass(new Uint8Array());
      while (end === "detached") end = await this.#goOn();
    } finally {
      this.#engine?.end();
      if (this.#key !== null) this.#keys.drop(this.#backend.entry.id, this.#key);
    }
  }

  /** Sends the engine's messages to the client in one write, with the gateway's cancel key. */
  #welcome({ engine, engineKey, beforeKey, afterKey }: LoggedIn<E>, { version }: Startup): void {
    this.#engine = engine;
    this.#pid = engineKey.pid;
    const keyBytes = version >= VERSION_OF_LONG_KEYS ? 32 : 4;
    this.#key = this.#keys.mint(this.#backend.entry.id, engineKey, keyBytes);
    this.#client.write(Buffer.concat([beforeKey, backendKeyData(this.#key.pid, this.#key.key), afterKey]));
  }

  /** @param said bytes of the client that were read already. */
  async #pass(said: Uint8Array): Promise<SpliceEnd> {
    if (this.#engine === null) throw new Error("the session has not begun");
    const framer = new FrontendFramer(() => {
      this.#beginning = null;
    });
    if (said.length > 0) {
      framer.walk(said, said.length);
      this.#engine.write(said);
    }
    this.#backend.loggedIn(this.#client, this.#pid);
    return await this.#backend.splice(this.#client, this.#engine, framer);
  }

  /** Continues a session whose engine went to sleep, at the client's next message. @throws as `begin`. */
  async #goOn(): Promise<SpliceEnd> {
    this.#engine?.end();
    if (this.#beginning === null || this.#key === null) {
      throw new ProtocolError(SQLSTATE.adminShutdown, "terminating connection due to idle suspension");
    }
    const { startup, proof } = this.#beginning;
    const said = await this.#client.read(1);
    if (said[0] === TERMINATE) return "closed";
    this.#client.hasUnanswered = true;
    const { engine, engineKey } = await logIn(this.#client, this.#backend, startup, { proof, login: null });
    this.#engine = engine;
    this.#pid = engineKey.pid;
    this.#keys.renew(this.#backend.entry.id, this.#key, engineKey);
    return await this.#pass(said);
  }
}
