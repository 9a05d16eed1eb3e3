// Users that signed in: their connections, and the watchers of their presence.
import type { Connection } from "./connection.ts";
import { TERMINATED, UNAUTHORIZED } from "./protocol/close-codes.ts";
import { signinSuccess, watchlistEvents } from "./protocol/frames.ts";
import { MAX_WATCHLIST_LENGTH } from "./protocol/limits.ts";
import { exactly, identityOf, objectOf, userIdOf } from "./protocol/members.ts";
import type { Message } from "./protocol/messages.ts";
import { isAuthorized, userText } from "./protocol/signatures.ts";

/** The error code for a client whose user watches too many others; the sign-in stays valid. */
const WATCHLIST_TOO_LONG = 4302;
const WATCHLIST_CUT = `A user can watch at most ${MAX_WATCHLIST_LENGTH} users; the first ${MAX_WATCHLIST_LENGTH} are watched`;

/** Signs a connection's user in, or closes a connection without a valid proof. */
export function signIn(
  connection: Connection,
  { auth, userData }: Extract<Message, { kind: "signin" }>,
): void {
  const { application, socketId } = connection;
  const data = objectOf(userData);
  const id = data === null ? null : userIdOf(exactly(userData, data, "id"));
  const isProven = isAuthorized(auth, application.credentials(), userText(socketId, userData));
  // The connection has joined channels and sent events as its first user.
  const isAnother = connection.user !== null && connection.user.id !== id;
  if (!isProven || data === null || id === null || isAnother) return connection.closeWith(UNAUTHORIZED);
  connection.send(signinSuccess(userData));
  if (connection.user !== null) return;
  const wanted = watchlistOf(exactly(userData, data, "watchlist"));
  const watchlist = wanted.slice(0, MAX_WATCHLIST_LENGTH);
  connection.user = { id, member: identityOf(id, data.user_info), watchlist };
  application.users.add(connection);
  if (wanted.length > watchlist.length) connection.complain(WATCHLIST_CUT, WATCHLIST_TOO_LONG);
}

function watchlistOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const ids = value.map(userIdOf).filter((id) => id !== null);
  return [...new Set(ids)];
}

export class Users {
  readonly #connections = new Map<string, Set<Connection>>();
  /** The watching connections, by the user that they watch. */
  readonly #watchers = new Map<string, Set<Connection>>();

  /** Adds a connection that signed in, sends it the states of its watchlist, and notifies the watchers of its user. */
  add(connection: Connection): void {
    const { user } = connection;
    if (user === null) return;
    const isFirst = !this.#connections.has(user.id);
    addTo(this.#connections, user.id, connection);
    for (const watched of user.watchlist) addTo(this.#watchers, watched, connection);
    this.#sendStates(connection, user.watchlist);
    if (isFirst) this.#notifyWatchers(user.id, "online");
  }

  /** Forgets a connection, signed in or not. */
  remove(connection: Connection): void {
    const { user } = connection;
    if (user === null) return;
    for (const watched of user.watchlist) removeFrom(this.#watchers, watched, connection);
    removeFrom(this.#connections, user.id, connection);
    if (!this.#connections.has(user.id)) this.#notifyWatchers(user.id, "offline");
  }

  /** Closes all connections of a user. @returns how many there were. */
  terminate(userId: string): number {
    const connections = [...(this.#connections.get(userId) ?? [])];
    for (const connection of connections) connection.closeWith(TERMINATED);
    return connections.length;
  }

  #sendStates(connection: Connection, watchlist: string[]): void {
    const { online = [], offline = [] } = Object.groupBy(watchlist, (id) =>
      this.#connections.has(id) ? "online" : "offline",
    );
    const events = [
      { name: "online" as const, user_ids: online },
      { name: "offline" as const, user_ids: offline },
    ].filter(({ user_ids: ids }) => ids.length > 0);
    if (events.length > 0) connection.send(watchlistEvents(events));
  }

  #notifyWatchers(userId: string, name: "online" | "offline"): void {
    const frame = watchlistEvents([{ name, user_ids: [userId] }]);
    for (const watcher of this.#watchers.get(userId) ?? []) {
      if (watcher.user?.id !== userId) watcher.send(frame);
    }
  }
}

function addTo(sets: Map<string, Set<Connection>>, key: string, connection: Connection): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([connection]));
  else set.add(connection);
}

function removeFrom(sets: Map<string, Set<Connection>>, key: string, connection: Connection): void {
  const set = sets.get(key);
  set?.delete(connection);
  if (set?.size === 0) sets.delete(key);
}
