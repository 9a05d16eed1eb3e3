// A connection as protocol handlers see it: bytes in order, with no word of sockets, events or TLS records.

/** Thrown by a read when the other side has closed, the deadline is over, or the connection broke. */
export class StreamEnded extends Error {
  constructor() {
    super("the connection has ended");
    this.name = "StreamEnded";
  }
}

/** One end of a connection. Bytes that are returned belong to the caller. */
export interface Stream {
  /** Exactly so many bytes; no more than these are taken from the socket. @throws StreamEnded */
  read(length: number): Promise<Uint8Array>;
  /** What has arrived, at least one byte and at most 64 KiB. @throws StreamEnded */
  readSome(): Promise<Uint8Array>;
  /** Sends what the kernel takes now and the rest as it can. After the end of the connection it does nothing. */
  write(bytes: Uint8Array): void;
  /** Ends the connection when all that was written has been sent. May be called twice. */
  end(): void;
}

/** What a connection with TLS was agreed with. */
export interface TlsInfo {
  /** The name that the client asked for, in lower case. */
  serverName: string | null;
  /** The protocol that was agreed on by ALPN. */
  alpn: string | null;
  /** The `tls-server-end-point` channel binding of the certificate that was shown (RFC 5929). */
  endPointHash: Uint8Array;
}

/** The client's end. */
export interface ClientStream extends Stream {
  /** Address and port, such as `127.0.0.1:53312`, an IPv6 address in brackets. */
  readonly address: string;
  /** The time of the loop, in milliseconds, at the moment it was accepted. */
  readonly acceptedAtMs: number;
  /** Null as long as it speaks in clear. */
  readonly tls: TlsInfo | null;
  /** Whether the gateway has a certificate to show. */
  readonly canStartTls: boolean;
  /** Whether this client may speak in clear only for as long as it takes to begin TLS. */
  readonly mustStartTls: boolean;
  /** The first byte that has not been read yet, without reading it. @throws StreamEnded */
  peekByte(): Promise<number>;
  /** Whether bytes have arrived that were not read yet. */
  hasUnread(): boolean;
  /**
   * Does the handshake as the server on the bytes that follow.
   * @param alpn protocols to choose from when the client names any; a client that names others only is refused.
   * @throws StreamEnded when it fails.
   */
  startTls(alpn?: readonly string[]): Promise<void>;
  /**
   * Says that the client has proved who it is, and so takes one of the connections that its instance may have. May be called again.
   * @throws TooManyClients
   */
  identified(): void;
  /** Ends the connection after so long, unless it is called again before; null takes the deadline away. */
  setDeadline(ms: number | null): void;
}
