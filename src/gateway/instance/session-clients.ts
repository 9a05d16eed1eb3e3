// The clients of an instance's sessions, by the engine's own numbers, so that a list of sessions can name the clients.

/** A client with a session at the engine. */
interface SessionClient {
  /** Address and port. */
  readonly address: string;
}

export class SessionClients<Client extends SessionClient> {
  /** Few operations for each session: the search is left to the question, which people ask. */
  readonly #sessions = new Map<Client, number>();

  /** @param session the engine's number for the session, which replaces the client's former session. */
  began(client: Client, session: number): void {
    this.#sessions.set(client, session);
  }

  /** May be called again. */
  ended(client: Client): void {
    this.#sessions.delete(client);
  }

  /** The IP address of each session's client, in the same order; null for an unknown session. */
  addressesOf(sessions: readonly number[]): (string | null)[] {
    const addresses = new Map<number, string>();
    for (const [{ address }, session] of this.#sessions) addresses.set(session, withoutPort(address));
    return sessions.map((session) => addresses.get(session) ?? null);
  }
}

/** An address without its port and brackets; a client of IPv4 at a socket for both has its own address. */
function withoutPort(address: string): string {
  const host = address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1");
  return host.replace(/^::ffff:(?=\d+\.)/i, "");
}
