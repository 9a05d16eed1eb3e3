// Users that signed in: their connections, and the watchers of their presence.
import type { Connection } from "./connection.ts";
import { TERMINATED, UNAUTHORIZED } from "./protocol/close-codes.ts";
import { signinSuccess, watchlistEvents } from "./protocol/frames.ts";
import {
  COUNT_THRESHOLD,
  LARGE_COUNT_INTERVAL_MS,
  MAX_WATCHLIST_LENGTH,
  WATCHLIST_INTERVAL_MS,
} from "./protocol/limits.ts";
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
  connection.user = { id, member: identityOf(id, userData, data), watchlist };
  application.users.add(connection);
  if (wanted.length > watchlist.length) connection.complain(WATCHLIST_CUT, WATCHLIST_TOO_LONG);
}

function watchlistOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const ids = value.map(userIdOf).filter((id) => id !== null);
  return [...new Set(ids)];
}

/** The latest notice about a user; the next is not sent before the timer ends. */
interface Notice {
  isOnline: boolean;
  timer: ReturnType<typeof setTimeout>;
}

export class Users {
  readonly #connections = new Map<string, Set<Connection>>();
  /** The watching connections, by the user that they watch. */
  readonly #watchers = new Map<string, Set<Connection>>();
  /** By user; only of users with watchers, and forgotten when its time is over. */
  readonly #notices = new Map<string, Notice>();

  /** Adds a connection that signed in, sends it the states of its watchlist, and notifies the watchers of its user. */
  add(connection: Connection): void {
    const { user } = connection;
    if (user === null) return;
    const isFirst = !this.#connections.has(user.id);
    addTo(this.#connections, user.id, connection);
    for (const watched of user.watchlist) addTo(this.#watchers, watched, connection);
    this.#sendStates(connection, user);
    if (isFirst) this.#changed(user.id);
  }

  /** Forgets a connection, signed in or not. */
  remove(connection: Connection): void {
    const { user } = connection;
    if (user === null) return;
    for (const watched of user.watchlist) {
      removeFrom(this.#watchers, watched, connection);
      if (!this.#watchers.has(watched)) this.#forgetNotice(watched);
    }
    removeFrom(this.#connections, user.id, connection);
    if (!this.#connections.has(user.id)) this.#changed(user.id);
  }

  /** Closes all connections of a user. @returns how many there were. */
  terminate(userId: string): number {
    const connections = [...(this.#connections.get(userId) ?? [])];
    for (const connection of connections) connection.closeWith(TERMINATED);
    return connections.length;
  }

  /**
   * Sends a new watcher what the other watchers know, since a change that they were not notified of may be taken back
   * without a notice. A user is online for itself, and gets no notices of itself.
   */
  #sendStates(connection: Connection, { id: ownId, watchlist }: { id: string; watchlist: string[] }): void {
    const { online = [], offline = [] } = Object.groupBy(watchlist, (id) =>
      id === ownId || this.#knownState(id) ? "online" : "offline",
    );
    const events = [
      { name: "online" as const, user_ids: online },
      { name: "offline" as const, user_ids: offline },
    ].filter(({ user_ids: ids }) => ids.length > 0);
    if (events.length > 0) connection.send(watchlistEvents(events));
  }

  /** Whether the watchers of a user take it for online. */
  #knownState(userId: string): boolean {
    return this.#notices.get(userId)?.isOnline ?? this.#connections.has(userId);
  }

  /** Notifies the watchers of a user that came or went, unless their latest notice is so new that they must wait. */
  #changed(userId: string): void {
    if (!this.#notices.has(userId)) this.#notifyWatchers(userId);
  }

  #notifyWatchers(userId: string): void {
    const watchers = this.#watchers.get(userId);
    if (watchers === undefined) return;
    const isOnline = this.#connections.has(userId);
    const frame = watchlistEvents([{ name: isOnline ? "online" : "offline", user_ids: [userId] }]);
    for (const watcher of watchers) {
      if (watcher.user?.id !== userId) watcher.send(frame);
    }
    const intervalMs = watchers.size > COUNT_THRESHOLD ? LARGE_COUNT_INTERVAL_MS : WATCHLIST_INTERVAL_MS;
    const timer = setTimeout(() => this.#endInterval(userId, isOnline), intervalMs);
    this.#notices.set(userId, { isOnline, timer });
  }

  #endInterval(userId: string, wasOnline: boolean): void {
    this.#notices.delete(userId);
    if (this.#connections.has(userId) !== wasOnline) this.#notifyWatchers(userId);
  }

  #forgetNotice(userId: string): void {
    clearTimeout(this.#notices.get(userId)?.timer);
    this.#notices.delete(userId);
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
