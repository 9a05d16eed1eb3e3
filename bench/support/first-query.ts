// Waits for the first answer of a Postgres or MariaDB, with the client that comes with Bun on both sides of a comparison.
import { SQL } from "bun";

/** A try that came to nothing is repeated after this. Without a pause the client would take one of few cores for itself. */
const RETRY_MS = 1;
const GIVE_UP_MS = 120_000;

/** Where a cluster is reached, as whom, and which database of it. */
export interface DatabaseAddress {
  adapter: "postgres" | "mysql";
  hostname: string;
  port: number;
  username: string;
  password: string;
  database: string;
}

/**
 * Logs in and asks, again and again until there is an answer.
 * @param retryMs the pause between tries, in milliseconds.
 * @returns when it came, in milliseconds of `performance.now()`.
 */
export async function firstQuery(address: DatabaseAddress, retryMs = RETRY_MS): Promise<number> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    const refusal = await refusalOf(address);
    if (typeof refusal === "number") return refusal;
    if (performance.now() > giveUpAt) {
      throw new Error(`nothing answered on port ${address.port}`, { cause: refusal });
    }
    await Bun.sleep(retryMs);
  }
}

/** One try: when the answer was there, or why there is none. A refused connection and a refused login are alike here. */
async function refusalOf(address: DatabaseAddress): Promise<number | Error> {
  const db = new SQL({ ...address, max: 1, connectionTimeout: 5 });
  try {
    await db`select 1`;
    return performance.now();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await db.close({ timeout: 0 });
  }
}
