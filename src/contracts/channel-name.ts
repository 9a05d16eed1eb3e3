// The names of channels and the bounds of events, for the realtime server and for the API that publishes through it.

/** The longest name of a channel in characters; the client libraries check the same. */
export const MAX_CHANNEL_NAME_LENGTH = 200;

/** The characters of a channel's name, except for the channels of a single user. */
export const CHANNEL_NAME = /^[-a-zA-Z0-9_=@,.;]+$/;

/** How the channels of a single user begin; the user's id follows. */
export const SERVER_TO_USER = "#server-to-user-";

/** How the channels begin whose events only the libraries of their ends can read. */
export const ENCRYPTED = "private-encrypted-";

/** The longest name of an event, in characters. */
export const MAX_EVENT_NAME_LENGTH = 200;

/** The most data of an event, in bytes of UTF-8. */
export const MAX_EVENT_DATA_BYTES = 10_240;
