// The interface between the protocol and the sockets, behind which another WebSocket server could stand.

/** One client's socket. */
export interface Transport {
  /** Sends a text frame. */
  send(frame: string): void;
  /** Sends a ping of RFC 6455, which every client answers. */
  ping(): void;
  /**
   * Closes with a code and a reason. Frames that were sent before still arrive, and frames that are published
   * afterwards do not. A client that does not read or does not answer is given up within seconds, or at once while too
   * much waits for such clients.
   */
  close(code: number, reason: string): void;
  /** From now on the client gets what is published to the topic. */
  join(topic: string): void;
  leave(topic: string): void;
  /** Publishes to all other clients of a topic that this client has joined. */
  publishToOthers(topic: string, frame: string): void;
  /** Bytes that the client has not taken yet. */
  bufferedBytes(): number;
  /** The most of them that can be frames of `send`, which are answers nearly all, and not published. */
  bufferedAnswerBytes(): number;
}

/** Sends a frame to all clients that joined a topic; the frame is made once and shared. */
export type Publish = (topic: string, frame: string) => void;
