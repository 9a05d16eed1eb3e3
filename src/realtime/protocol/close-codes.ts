// Reasons to close a connection. The hundreds say what a client must do: 40xx stay away, 41xx come back later, 42xx at
// once.

/**
 * A code of the WebSocket close frame, with its message. Clients of protocols before 6 get the codes from 4000 on in an
 * error event too, before the frame.
 */
export interface CloseReason {
  code: number;
  message: string;
}

export const APPLICATION_UNKNOWN: CloseReason = { code: 4001, message: "Application does not exist" };
export const OVER_QUOTA: CloseReason = { code: 4004, message: "Over connection quota" };
export const PATH_UNKNOWN: CloseReason = { code: 4005, message: "Path not found" };
export const VERSION_INVALID: CloseReason = { code: 4006, message: "Invalid version string format" };
export const VERSION_UNSUPPORTED: CloseReason = { code: 4007, message: "Unsupported protocol version" };
export const VERSION_MISSING: CloseReason = { code: 4008, message: "No protocol version supplied" };
export const UNAUTHORIZED: CloseReason = { code: 4009, message: "Connection is unauthorized" };
export const ORIGIN_REFUSED: CloseReason = { code: 4009, message: "Origin not allowed" };
export const TERMINATED: CloseReason = { code: 4009, message: "Connection terminated by the application" };
export const OVER_CAPACITY: CloseReason = { code: 4100, message: "Client does not read what it is sent" };
export const RECONNECT: CloseReason = { code: 4200, message: "Server is going away, please reconnect" };
export const PONG_MISSING: CloseReason = { code: 4201, message: "Pong reply not received in time" };

/** The code of RFC 6455 for a message that is too large. */
export const MESSAGE_TOO_LARGE: CloseReason = { code: 1009, message: "Maximum message size exceeded" };
