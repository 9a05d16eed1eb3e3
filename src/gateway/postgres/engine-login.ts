// A login at the engine: begun before the client's proof, finished with the keys from the proof.
import type { Stream } from "../stream.ts";
import type { EngineKey } from "./cancel-keys.ts";
import { EngineLost, EngineError } from "./errors.ts";
import { EngineReader, type Message } from "./message-reader.ts";
import { AUTHENTICATION, saslInitialResponse, saslResponse, startupMessage } from "./messages.ts";
import { ScramClient, type Challenge } from "../../lib/scram-client.ts";
import { SCRAM, type Hashing, type Verifier } from "../../lib/scram.ts";
import type { Startup } from "./startup-packet.ts";

/** Types of the engine's messages. */
const AUTHENTICATION_REQUEST = "R";
const BACKEND_KEY_DATA = "K";
const ERROR_RESPONSE = "E";
const NOTICE_RESPONSE = "N";
const READY_FOR_QUERY = "Z";

/** A session at the engine after its login. */
export interface LoggedIn<E extends Stream> {
  engine: E;
  engineKey: EngineKey;
  /** The engine's messages to the client before and after the cancel key, up to ReadyForQuery and beyond. */
  beforeKey: Buffer;
  afterKey: Buffer;
}

/** The engine demands no SCRAM proof from this user, so no client may be this user. */
export class NotByPassword extends Error {
  constructor() {
    super("the engine does not ask for a proof of the password");
    this.name = "NotByPassword";
  }
}

/** A client's proof, and the messages to the client when the engine has accepted it too. */
export interface Proof {
  verifier: Verifier;
  /** SCRAM's ClientKey, which can be computed only from the password. */
  clientKey: Uint8Array;
  /** The messages that end the client's own authentication. */
  welcome: Uint8Array;
}

export class EngineLogin<E extends Stream> {
  readonly engine: E;
  readonly #reader: EngineReader;
  readonly #scram: ScramClient;
  readonly #challenge: Challenge;

  private constructor(engine: E, reader: EngineReader, scram: ScramClient, challenge: Challenge) {
    this.engine = engine;
    this.#reader = reader;
    this.#scram = scram;
    this.#challenge = challenge;
  }

  /**
   * Begins a login, up to the engine's challenge.
   * @param engine the connection, which is ended when this throws.
   * @throws EngineLost, EngineError, NotByPassword.
   */
  static async begin<E extends Stream>(
    engine: E,
    { parameters }: Pick<Startup, "parameters">,
  ): Promise<EngineLogin<E>> {
    const reader = new EngineReader(engine);
    const scram = new ScramClient();
    try {
      // The engine's offer is known beforehand, so the choice goes out with the startup message and saves a round trip.
      const choice = saslInitialResponse(SCRAM, scram.first);
      engine.write(Buffer.concat([startupMessage(parameters), choice]));
      await readAuthentication(reader, AUTHENTICATION.sasl);
      const text = await readAuthentication(reader, AUTHENTICATION.saslContinue);
      const challenge = scram.readServerFirst(text);
      if (challenge === null) throw new EngineLost();
      return new EngineLogin(engine, reader, scram, challenge);
    } catch (error) {
      engine.end();
      throw error;
    }
  }

  /** The hashing of the password in force; made up by the engine for an unknown user. */
  get hashing(): Hashing {
    return this.#challenge.hashing;
  }

  /**
   * Proves the password to the engine, and waits until the engine is ready for queries.
   * @throws EngineLost, NotByPassword; EngineError with all messages for the client.
   */
  async finish({ verifier, clientKey, welcome }: Proof): Promise<LoggedIn<E>> {
    this.engine.write(saslResponse(this.#scram.final(this.#challenge, clientKey, verifier)));
    const signature = await readAuthentication(this.#reader, AUTHENTICATION.saslFinal);
    if (!this.#scram.isProved(this.#challenge, signature, verifier)) throw new EngineLost();
    await readAuthentication(this.#reader, AUTHENTICATION.ok);
    return { engine: this.engine, ...(await readUntilReady(this.#reader, welcome)) };
  }
}

/** The data of the next message, which must be an AuthenticationRequest of that kind. */
async function readAuthentication(reader: EngineReader, kind: number): Promise<string> {
  const { type, bytes, body } = await reader.next();
  // Notices come at any time; during the authentication they are not passed on to the client.
  if (type === NOTICE_RESPONSE) return await readAuthentication(reader, kind);
  if (type === ERROR_RESPONSE) throw new EngineError(bytes, body);
  if (type !== AUTHENTICATION_REQUEST || body.length < 4) throw new EngineLost();
  if (body.readInt32BE() !== kind) throw new NotByPassword();
  return body.toString("latin1", 4);
}

async function readUntilReady(
  reader: EngineReader,
  welcome: Uint8Array,
): Promise<Omit<LoggedIn<Stream>, "engine">> {
  const beforeKey = [welcome];
  const afterKey: Uint8Array[] = [];
  let engineKey: EngineKey | null = null;
  for (;;) {
    const message = await reader.next();
    if (message.type === ERROR_RESPONSE) {
      throw new EngineError(Buffer.concat([...beforeKey, ...afterKey, message.bytes]), message.body);
    }
    if (message.type === BACKEND_KEY_DATA) engineKey = readKeyData(message);
    else (engineKey === null ? beforeKey : afterKey).push(message.bytes);
    if (message.type !== READY_FOR_QUERY) continue;
    if (engineKey === null) throw new EngineLost();
    afterKey.push(reader.rest());
    return { engineKey, beforeKey: Buffer.concat(beforeKey), afterKey: Buffer.concat(afterKey) };
  }
}

function readKeyData({ body }: Message): EngineKey {
  if (body.length < 8) throw new EngineLost();
  return { pid: body.readInt32BE(), key: new Uint8Array(body.subarray(4)) };
}
