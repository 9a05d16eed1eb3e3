// Clients that stay connected without an engine, which alone could end their connections when a password changes.

export class ParkedClients<Client extends { end(): void }> {
  readonly #isOver = new Map<Client, () => boolean>();

  /** See `Backend.parked`. */
  add(client: Client, isOver: () => boolean): () => void {
    this.#isOver.set(client, isOver);
    return () => this.#isOver.delete(client);
  }

  /** Ends the clients whose login is no longer right, after a change of the users. */
  endOver(): void {
    for (const [client, isOver] of this.#isOver) if (isOver()) client.end();
  }
}
