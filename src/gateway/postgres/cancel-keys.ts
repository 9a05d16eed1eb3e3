// The keys with which clients cancel their queries: made here, since those of the engines begin anew with each start.
import { randomBytes, timingSafeEqual } from "node:crypto";

/** What the engine gave a session, and wants to be shown when its query is to be cancelled. */
export interface EngineKey {
  pid: number;
  key: Uint8Array;
}

/** What a client has to show. */
export interface ClientKey {
  pid: number;
  key: Uint8Array;
}

interface Issued {
  instanceId: string;
  key: Uint8Array;
  engine: EngineKey;
}

/** Process ids of Postgres are positive numbers of 32 bits with a sign. */
const MAX_PID = 0x7fff_ffff;

export class CancelKeys {
  readonly #issued = new Map<number, Issued>();

  /**
   * Makes a key for a session, to be dropped at its end.
   * @param keyBytes how long the secret part is.
   */
  mint(instanceId: string, engine: EngineKey, keyBytes: number): ClientKey {
    let pid = 0;
    while (pid === 0 || this.#issued.has(pid)) pid = randomBytes(4).readUInt32BE() & MAX_PID;
    const key = new Uint8Array(randomBytes(keyBytes));
    this.#issued.set(pid, { instanceId, key, engine });
    return { pid, key };
  }

  /** The session goes on with another one at the engine. */
  renew({ pid }: ClientKey, engine: EngineKey): void {
    const issued = this.#issued.get(pid);
    if (issued !== undefined) issued.engine = engine;
  }

  /** The engine's key of the session of that instance whose client has shown this one; null when there is none. */
  find(instanceId: string, { pid, key }: ClientKey): EngineKey | null {
    const issued = this.#issued.get(pid);
    if (issued === undefined || issued.instanceId !== instanceId) return null;
    if (issued.key.length !== key.length || !timingSafeEqual(issued.key, key)) return null;
    return issued.engine;
  }

  drop({ pid }: ClientKey): void {
    this.#issued.delete(pid);
  }

  /** Keys that could be used now. */
  get size(): number {
    return this.#issued.size;
  }
}
