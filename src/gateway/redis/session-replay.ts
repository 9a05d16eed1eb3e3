// Sets a client's session up again on a new connection to an engine.
import { EngineUnavailable, HOLD_MS, type Backend, type Instance } from "../backend.ts";
import type { Route } from "../../contracts/gateway-link.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { knowsSetInfo } from "./client-command.ts";
import { commandBytes } from "./replies.ts";
import { ReplyReader } from "./reply-reader.ts";
import type { Session } from "./session.ts";

const PAUSE_MS = 20;

/** The engine refuses this client; the message is the engine's own. */
export class EngineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EngineError";
  }
}

/**
 * Connects a client with a command that only the engine can answer; wakes the engine.
 * @throws EngineError; EngineUnavailable; StreamEnded when the client has gone.
 */
export async function replaySession<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
  session: Session,
): Promise<E> {
  const giveUpAtMs = performance.now() + HOLD_MS;
  const { login, name, libraryName, db } = session;
  const application = name === "" ? libraryName : name;
  const reason = {
    user: login?.user ?? "",
    ...(db !== 0 && { database: String(db) }),
    ...(application !== "" && { application }),
    address: client.address,
  };
  for (;;) {
    const engine = await backend.connect(client, reason);
    if (await replay(engine, session, backend.entry)) return engine;
    if (performance.now() > giveUpAtMs) throw new EngineUnavailable("The cache is still loading its data.");
    await backend.pause(client, PAUSE_MS);
  }
}

/**
 * Connects to an engine that runs anyway; null when no engine answers now.
 * @throws EngineError.
 */
export async function replayIfRunning<C extends ClientStream, E extends Stream>(
  backend: Backend<C, E>,
  session: Session,
): Promise<E | null> {
  if (!isRunning(backend)) return null;
  const engine = await backend.connectIfRunning();
  if (engine === null || !(await replay(engine, session, backend.entry))) return null;
  if (isRunning(backend)) return engine;
  // The instance has begun to fall asleep meanwhile.
  engine.end();
  return null;
}

function isRunning({ entry }: Instance): boolean {
  return entry.state === "running";
}

/**
 * Sends the session's commands to the engine.
 * @returns false, with the connection ended, when the engine is loading or has gone.
 * @throws EngineError.
 */
async function replay(engine: Stream, session: Session, entry: Route): Promise<boolean> {
  const { needed, others } = replayOf(session, entry);
  if (needed.length === 0) return true;
  engine.write(Buffer.from([...needed, ...others].join(""), "latin1"));
  const reader = new ReplyReader(engine);
  try {
    for (let count = 0; count < needed.length + others.length; count++) {
      const { type, text } = await reader.next();
      if (type !== "-") continue;
      if (text.startsWith("LOADING ")) {
        engine.end();
        return false;
      }
      if (count < needed.length) throw new EngineError(text);
    }
    return true;
  } catch (error) {
    engine.end();
    if (error instanceof StreamEnded || error instanceof RangeError) return false;
    throw error;
  }
}

/** The commands that set a session up again. The engine has to accept the `needed` commands; it may refuse the others. */
function replayOf(session: Session, entry: Route): { needed: string[]; others: string[] } {
  const { login, protocol, name, libraryName, libraryVersion, db } = session;
  if (login === null) return { needed: [], others: [] };
  const needed =
    protocol === 3
      ? [commandBytes("HELLO", "3", "AUTH", login.user, login.password)]
      : [commandBytes("AUTH", login.user, login.password)];
  if (db !== 0) needed.push(commandBytes("SELECT", String(db)));
  const others: string[] = [];
  // An engine that runs a long script refuses names.
  if (name !== "") others.push(commandBytes("CLIENT", "SETNAME", name));
  if (knowsSetInfo(entry)) {
    if (libraryName !== "") others.push(commandBytes("CLIENT", "SETINFO", "LIB-NAME", libraryName));
    if (libraryVersion !== "") others.push(commandBytes("CLIENT", "SETINFO", "LIB-VER", libraryVersion));
  }
  // An engine that loads its data refuses this alone, as does an engine that serves but cannot save.
  others.push(commandBytes("PING"));
  return { needed, others };
}
