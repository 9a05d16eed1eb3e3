// What can be seen of the sleep of an instance: how it is now, and who woke it last.

/** `waking` is asleep no more and not ready yet; `draining` lets what is under way come to its end before it sleeps. */
export type SleepState = "awake" | "asleep" | "waking" | "draining";

/** Who woke an instance. What a client did not tell, or its protocol does not know, is left out. */
export interface WakeReason {
  user: string;
  database?: string;
  application?: string;
  /** Address and port of the client; empty where no client came. */
  address: string;
}

/** A wake that came to its end. */
export interface Wake {
  /** When the client connected, ISO 8601. */
  at: string;
  reason: WakeReason;
  /**
   * How long its parts took for the client that caused it, in milliseconds: to the first message, to the proof of who it
   * is, to a process, to an engine that takes connections, and to the login there.
   */
  spansMs: { accept: number; auth: number; start: number; ready: number; login: number };
}

/** How an instance sleeps. */
export interface Sleep {
  state: SleepState;
  /** When the state was reached, ISO 8601. */
  since: string;
  /** Null as long as nobody has woken it. */
  lastWake: Wake | null;
  /** How often it was woken. */
  wakes: number;
}
