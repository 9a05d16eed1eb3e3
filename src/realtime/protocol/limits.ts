// The limits of the protocol, from its documentation and its client libraries.

/** Users on one presence channel. */
export const MAX_PRESENCE_MEMBERS = 100;
/** Longest user id, in characters. */
export const MAX_USER_ID_LENGTH = 128;
/** The most information that an application may give about a user on a presence channel, in bytes of JSON. */
export const MAX_USER_INFO_BYTES = 1_024;
/** Users that one user may watch. */
export const MAX_WATCHLIST_LENGTH = 100;
/** Events that one client may send in a second. */
export const MAX_CLIENT_EVENTS_PER_SECOND = 10;
/** Channels that one connection may subscribe to; each costs memory. */
export const MAX_SUBSCRIPTIONS = 1_000;
/** Subscriptions that one client may make at once: all of its channels when it comes back, and some changes. */
export const SUBSCRIBE_BURST = MAX_SUBSCRIPTIONS + 200;
/** Subscriptions that one client may make in the long run; each may be sent to all other subscribers. */
export const SUBSCRIBES_PER_SECOND = 20;
/** Channels of one application that are occupied at a time: every client that knows its key can make up names. */
export const MAX_CHANNELS = 200_000;
/**
 * Channels of all applications of a cluster that are occupied at a time: a cluster has memory of its own, which is as much
 * as a single application may fill, and memory for each connection that it allows.
 */
export const CLUSTER_CHANNELS = 200_000;
export const CLUSTER_CHANNELS_PER_CONNECTION = 40;
/** How long a cache channel remembers its last event. */
export const CACHE_TTL_SECONDS = 30 * 60;
/** With more subscribers than this, a count is sent at most every `LARGE_COUNT_INTERVAL_MS`. */
export const COUNT_THRESHOLD = 100;
export const LARGE_COUNT_INTERVAL_MS = 5_000;
/** Clients that come at the same time make one count together; nobody sees the difference. */
export const SMALL_COUNT_INTERVAL_MS = 20;
/**
 * How often a user's watchers are notified of a change, when there are as few of them as above; of a user with more
 * watchers at most every `LARGE_COUNT_INTERVAL_MS`.
 */
export const WATCHLIST_INTERVAL_MS = 1_000;
