// A connection as protocol handlers see it: bytes in order, without sockets, events or TLS records.

/** Thrown by a read when the other side has closed, the deadline is over, or the connection broke. */
export class StreamEnded extends Error {
  constructor() {
    super("the connection has ended");
    this.name = "StreamEnded";
  }
}

/** One end of a connection. Bytes that are returned belong to the caller. */
export interface Stream {
  /** Exactly `length` bytes; the socket keeps all later bytes. @throws StreamEnded */
  read(length: number): Promise<Uint8Array>;
  /** The bytes that have arrived, at least one byte and at most 64 KiB. @throws StreamEnded */
  readSome(): Promise<Uint8Array>;
  /** Sends as much as the kernel takes now and the rest later. After the end of the connection it does nothing. */
  write(bytes: Uint8Array): void;
  /** Ends the connection when all written bytes have been sent. May be called twice. */
  end(): void;
}

/** The results of a TLS handshake. */
export interface TlsInfo {
  /** The name that the client asked for, in lower case. */
  serverName: string | null;
  /** The protocol that ALPN selected. */
  alpn: string | null;
  /** The `tls-server-end-point` channel binding of the server's certificate (RFC 5929). */
  endPointHash: Uint8Array;
  /** The SHA-256 hash of the server's certificate. */
  fingerprint: Uint8Array;
}

/** The client's end. */
export interface ClientStream extends Stream {
  /** Address and port, such as `127.0.0.1:53312`, an IPv6 address in brackets. */
  readonly address: string;
  /** When the connection was accepted, by the gateway's clock, in milliseconds. */
  readonly acceptedAtMs: number;
  /** Null while the connection is in clear. */
  readonly tls: TlsInfo | null;
  /**
   * Whether the protocol handler has read requests that are unanswered. With these, as with unread bytes, the client
   * waits for its engine even when it sends nothing more, since it may still read.
   */
  hasUnanswered: boolean;
  /** Whether the gateway has a certificate. */
  readonly canStartTls: boolean;
  /** Whether TLS is compulsory: in clear this client may do nothing but begin TLS. */
  readonly mustStartTls: boolean;
  /** The first unread byte, which stays unread. @throws StreamEnded */
  peekByte(): Promise<number>;
  /** Whether unread bytes have arrived. */
  hasUnread(): boolean;
  /**
   * Does the TLS handshake, as the server, on the bytes that follow.
   * @param alpn the protocols to select from; a client whose ALPN list has only other protocols is refused.
   * @throws StreamEnded when it fails.
   */
  startTls(alpn?: readonly string[]): Promise<void>;
  /**
   * Records that the client has logged in, and counts it towards the instance's limit of clients. May be called again.
   * @throws TooManyClients
   */
  identified(): void;
  /** Ends the connection after `ms`, unless it is called again before; null removes the deadline. */
  setDeadline(ms: number | null): void;
}
