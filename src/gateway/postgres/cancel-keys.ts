// The keys with which clients cancel their queries: made by the gateway, since an engine's keys end with its process.
import { randomBytes, timingSafeEqual } from "node:crypto";

/** The engine's key of a session, which a cancel request to the engine has to show. */
export interface EngineKey {
  pid: number;
  key: Uint8Array;
}

/** The gateway's key of a session, which a client's cancel request has to show. */
export interface ClientKey {
  pid: number;
  key: Uint8Array;
}

interface Issued {
  instanceId: string;
  key: Uint8Array;
  engine: EngineKey;
}

/** Process ids of Postgres are positive signed 32-bit integers. */
const MAX_PID = 0x7fff_ffff;

export class CancelKeys {
  readonly #issued = new Map<number, Issued>();

  /**
   * Makes a key for a session; the caller drops it at the session's end.
   * @param keyBytes the length of the secret part.
   */
  mint(instanceId: string, engine: EngineKey, keyBytes: number): ClientKey {
    let pid = 0;
    while (pid === 0 || this.#issued.has(pid)) pid = randomBytes(4).readUInt32BE() & MAX_PID;
    const key = new Uint8Array(randomBytes(keyBytes));
    this.#issued.set(pid, { instanceId, key, engine });
    return { pid, key };
  }

  /** Sets the engine's key of a session that goes on at another engine process. */
  renew({ pid }: ClientKey, engine: EngineKey): void {
    const issued = this.#issued.get(pid);
    if (issued !== undefined) issued.engine = engine;
  }

  /** The engine's key for a client's key at an instance; null for an unknown or wrong key. */
  find(instanceId: string, { pid, key }: ClientKey): EngineKey | null {
    const issued = this.#issued.get(pid);
    if (issued === undefined || issued.instanceId !== instanceId) return null;
    if (issued.key.length !== key.length || !timingSafeEqual(issued.key, key)) return null;
    return issued.engine;
  }

  drop({ pid }: ClientKey): void {
    this.#issued.delete(pid);
  }

  /** The count of valid keys. */
  get size(): number {
    return this.#issued.size;
  }
}
