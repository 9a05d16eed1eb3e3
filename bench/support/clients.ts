// The smallest client of each protocol, and its wait for an engine that is being started.
import { askMysql } from "./wire-mysql.ts";
import { askPostgres } from "./wire-postgres.ts";
import { askRedis } from "./wire-redis.ts";
import type { Place, Wire } from "./wire.ts";

export type Protocol = "postgres" | "mysql" | "redis";

/** The login; caches have one database, which has no name. */
export interface Login {
  username: string;
  password: string;
  database: string;
}

/** The address of an instance, its protocol, and the login. */
export interface Address {
  protocol: Protocol;
  place: Place;
  login: Login;
}

const CLIENTS: Record<Protocol, (place: Place, login: Login) => Promise<Wire>> = {
  postgres: askPostgres,
  mysql: askMysql,
  redis: askRedis,
};

/** A failed try is repeated after this time. Without a pause the client would take one of few cores for itself. */
const RETRY_MS = 1;
const GIVE_UP_MS = 120_000;
/** A client without an answer for this long was forgotten. */
const FORGOTTEN_MS = 60_000;

/** Connects once, logs in and asks; resolves when the answer has come. The session stays open. @throws Refusal */
export async function ask({ protocol, place, login }: Address): Promise<Wire> {
  const forgotten = Promise.withResolvers<never>();
  const timer = setTimeout(() => forgotten.reject(new Error("the client was forgotten")), FORGOTTEN_MS);
  try {
    return await Promise.race([CLIENTS[protocol](place, login), forgotten.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Repeats `ask` until an answer comes: a client of a bare engine has no other way to know when it is ready.
 * @param retryMs the pause between tries, in milliseconds.
 */
export async function askUntilAnswered(address: Address, retryMs = RETRY_MS): Promise<Wire> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      return await ask(address);
    } catch (error) {
      if (performance.now() > giveUpAt) throw new Error("the engine gave no answer", { cause: error });
    }
    await Bun.sleep(retryMs);
  }
}

/** As `askUntilAnswered`, and closes. @returns when the answer came, in milliseconds of `performance.now()`. */
export async function firstAnswer(address: Address, retryMs = RETRY_MS): Promise<number> {
  const wire = await askUntilAnswered(address, retryMs);
  const answeredAt = performance.now();
  wire.close();
  return answeredAt;
}
