// A customer's connection to a cache, which does not reconnect by itself once it is lost.
import type { CacheResource } from "../../src/resources/caches/schema.ts";

/** An open connection of a client. */
export class Connection {
  readonly #client: Bun.RedisClient;

  private constructor(client: Bun.RedisClient) {
    this.#client = client;
  }

  /** Logs in with the cache's own credentials, once. */
  static async open({ attributes }: CacheResource): Promise<Connection> {
    const { hostname, port, username, password } = attributes.connection;
    const client = new Bun.RedisClient(`redis://${username}:${password}@${hostname}:${port}`, {
      autoReconnect: false,
      connectionTimeout: 5_000,
    });
    await client.connect();
    return new Connection(client);
  }

  /** @throws when the connection is lost. */
  async set(key: string, value: string): Promise<void> {
    await this.#client.set(key, value);
  }

  /** @throws when the connection is lost. */
  async get(key: string): Promise<string | null> {
    return await this.#client.get(key);
  }

  close(): void {
    this.#client.close();
  }
}
