// The keys with which clients cancel their queries: made by the gateway, since an engine's keys end with its process.
import { randomBytes, timingSafeEqual } from "node:crypto";

/** The engine's key of a session, which a cancel request to the engine has to show. */
export interface EngineKey {
  pid: number;
  key: Uint8Array;
}

/**
 * The gateway's key of a session, which a client's cancel request has to show. Its pid is that of the engine's process,
 * which clients compare with `pg_backend_pid()` and with the sender of a notification.
 */
export interface ClientKey {
  pid: number;
  key: Uint8Array;
}

interface Issued {
  key: Uint8Array;
  engine: EngineKey;
}

/** Process ids of Postgres are positive signed 32-bit integers. */
const MAX_PID = 0x7fff_ffff;

export class CancelKeys {
  readonly #issued = new Map<string, Issued>();

  /**
   * Makes a key for a session; the caller drops it at the session's end. A session that goes on at another process of the
   * engine keeps its pid, so a later session whose process has this pid gets another one.
   * @param keyBytes the length of the secret part.
   */
  mint(instanceId: string, engine: EngineKey, keyBytes: number): ClientKey {
    let { pid } = engine;
    while (pid === 0 || this.#issued.has(sessionName(instanceId, pid)))
      pid = randomBytes(4).readUInt32BE() & MAX_PID;
    const key = new Uint8Array(randomBytes(keyBytes));
    this.#issued.set(sessionName(instanceId, pid), { key, engine });
    return { pid, key };
  }

  /** Sets the engine's key of a session that goes on at another engine process. */
  renew(instanceId: string, { pid }: ClientKey, engine: EngineKey): void {
    const issued = this.#issued.get(sessionName(instanceId, pid));
    if (issued !== undefined) issued.engine = engine;
  }

  /** The engine's key for a client's key at an instance; null for an unknown or wrong key. */
  find(instanceId: string, { pid, key }: ClientKey): EngineKey | null {
    const issued = this.#issued.get(sessionName(instanceId, pid));
    if (issued === undefined) return null;
    if (issued.key.length !== key.length || !timingSafeEqual(issued.key, key)) return null;
    return issued.engine;
  }

  drop(instanceId: string, { pid }: ClientKey): void {
    this.#issued.delete(sessionName(instanceId, pid));
  }

  /** The count of valid keys. */
  get size(): number {
    return this.#issued.size;
  }
}

/** Two engines may have processes with the same pid, in containers or on different hosts. */
function sessionName(instanceId: string, pid: number): string {
  return `${instanceId} ${pid}`;
}
