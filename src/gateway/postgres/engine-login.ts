// The engine's side of a login: asked before the client has proved anything, answered with its keys afterwards.
import type { Stream } from "../stream.ts";
import type { EngineKey } from "./cancel-keys.ts";
import { EngineLost, EngineError } from "./errors.ts";
import { EngineReader, type Message } from "./message-reader.ts";
import { AUTHENTICATION, saslInitialResponse, saslResponse, startupMessage } from "./messages.ts";
import { ScramClient, type Challenge } from "./scram-client.ts";
import { SCRAM, type Hashing, type Verifier } from "./scram.ts";
import type { Startup } from "./startup-packet.ts";

/** Types of messages of the engine. */
const AUTHENTICATION_REQUEST = "R";
const BACKEND_KEY_DATA = "K";
const ERROR_RESPONSE = "E";
const NOTICE_RESPONSE = "N";
const READY_FOR_QUERY = "Z";

/** What an engine said after it had let somebody in. */
export interface LoggedIn<E extends Stream> {
  engine: E;
  engineKey: EngineKey;
  /** What the client is to be told before and after the key to its session, up to where the engine waits for it. */
  beforeKey: Buffer;
  afterKey: Buffer;
}

/** The engine lets this user in without a password, or wants to see it in another way: nobody from outside may be this user. */
export class NotByPassword extends Error {
  constructor() {
    super("the engine does not ask for a proof of the password");
    this.name = "NotByPassword";
  }
}

/** What a client proved, and what it is told when the engine has accepted it too. */
export interface Proof {
  verifier: Verifier;
  /** What only those know who know the password. */
  clientKey: Uint8Array;
  /** The end of the client's own authentication. */
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
   * Asks for a session, up to the engine's challenge.
   * @param engine is ended when this throws.
   * @throws EngineLost, EngineError, NotByPassword.
   */
  static async begin<E extends Stream>(engine: E, { parameters }: Startup): Promise<EngineLogin<E>> {
    const reader = new EngineReader(engine);
    const scram = new ScramClient();
    try {
      // What the engine offers is known before it does, so the choice goes along with the question.
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

  /** How the password in force was hashed, or a made-up way for a user that does not exist. */
  get hashing(): Hashing {
    return this.#challenge.hashing;
  }

  /**
   * Proves to know the password, and waits until the engine is ready for queries.
   * @throws EngineLost, NotByPassword; EngineError with all that the client is to be told.
   */
  async finish({ verifier, clientKey, welcome }: Proof): Promise<LoggedIn<E>> {
    this.engine.write(saslResponse(this.#scram.final(this.#challenge, clientKey, verifier)));
    const signature = await readAuthentication(this.#reader, AUTHENTICATION.saslFinal);
    if (!this.#scram.isProved(this.#challenge, signature, verifier)) throw new EngineLost();
    await readAuthentication(this.#reader, AUTHENTICATION.ok);
    return { engine: this.engine, ...(await readUntilReady(this.#reader, welcome)) };
  }
}

/** The data of an AuthenticationRequest of that kind, which is to come next. */
async function readAuthentication(reader: EngineReader, kind: number): Promise<string> {
  const { type, bytes, body } = await reader.next();
  // Notices come at any time; before the end of the authentication, clients are not told of any.
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
