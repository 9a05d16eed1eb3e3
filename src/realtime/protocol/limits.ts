// The limits of the protocol, as its documentation and its client libraries have them.

/** Longest name of an event, in characters. */
export const MAX_EVENT_NAME_LENGTH = 200;
/** Users on one presence channel. */
export const MAX_PRESENCE_MEMBERS = 100;
/** Longest user id, in characters. */
export const MAX_USER_ID_LENGTH = 128;
/** What an application may say of a user on a presence channel, in bytes of JSON. */
export const MAX_USER_INFO_BYTES = 1_024;
/** Users that one user may watch. */
export const MAX_WATCHLIST_LENGTH = 100;
/** Events that one client may send in a second. */
export const MAX_CLIENT_EVENTS_PER_SECOND = 10;
/** Channels that one connection may subscribe to; each costs memory. */
export const MAX_SUBSCRIPTIONS = 1_000;
/** Channels of one application that are occupied at a time: whoever knows its key can make up names. */
export const MAX_CHANNELS = 200_000;
/** How long a cache channel remembers its last event. */
export const CACHE_TTL_SECONDS = 30 * 60;
/** Above so many subscribers a count is told at most every `LARGE_COUNT_INTERVAL_MS`. */
export const COUNT_THRESHOLD = 100;
export const LARGE_COUNT_INTERVAL_MS = 5_000;
/** Many who come at once are told of together; nobody sees the difference. */
export const SMALL_COUNT_INTERVAL_MS = 20;
