// The thin line between the protocol and the sockets: another WebSocket server could stand behind it.

/** One client's socket. */
export interface Transport {
  /** Sends a text frame. */
  send(frame: string): void;
  /** Sends a ping of RFC 6455, which every client answers. */
  ping(): void;
  /**
   * Closes with a code and a reason. What was sent before still arrives, and nothing that is published afterwards; a client that
   * does not read or does not answer is given up within seconds.
   */
  close(code: number, reason: string): void;
  /** From now on gets what is published to the topic. */
  join(topic: string): void;
  leave(topic: string): void;
  /** Publishes to all others of a topic that this one has joined. */
  publishToOthers(topic: string, frame: string): void;
  /** Bytes that the client has not taken yet. */
  bufferedBytes(): number;
}

/** Sends one frame to everyone who joined a topic; it is made once and shared. */
export type Publish = (topic: string, frame: string) => void;
