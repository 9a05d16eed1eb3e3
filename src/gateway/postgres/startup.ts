// The part of a connection before the login: encryption, cancels, and the packet that asks for a session.
import type { ClientStream } from "../stream.ts";
import { ProtocolError, SQLSTATE } from "./errors.ts";
import { REQUEST } from "./messages.ts";
import { readOpening, unsupportedVersion, type Opening } from "./startup-packet.ts";

/** The name of the protocol in TLS (PostgreSQL documentation, "SSL Session Encryption"). */
const ALPN = "postgresql";

/** The type of a TLS record with a handshake; no first packet is so long that its length begins with this byte. */
const TLS_HANDSHAKE = 0x16;

/** The limit of Postgres (MAX_STARTUP_PACKET_LENGTH), without the length itself. */
const MAX_PACKET_BYTES = 10_000;
const MIN_PACKET_BYTES = 4;

/** The purpose of a connection: a session or a cancel. */
export type Purpose = Extract<Opening, { kind: "startup" | "cancel" }>;

/**
 * Reads and answers requests for encryption, up to the packet with the purpose of the connection.
 * @param newest the newest protocol version of the engine.
 * @returns null when the connection gets no answer.
 * @throws ProtocolError where Postgres answers with an error; StreamEnded.
 */
export async function readPurpose(client: ClientStream, newest: number): Promise<Purpose | null> {
  if ((await client.peekByte()) === TLS_HANDSHAKE) {
    if (!client.canStartTls) return null;
    await client.startTls([ALPN]);
    // Without ALPN, clients of other protocols could be redirected to this port (ALPACA); Postgres requires it too.
    if (client.tls?.alpn !== ALPN) return null;
  }
  let mayAskForTls = client.tls === null;
  let mayAskForGss = client.tls === null;
  for (;;) {
    const packet = await readPacket(client);
    const opening: Opening = packet === null ? { kind: "invalid" } : readOpening(packet, newest);
    if (opening.kind === "invalid") return null;
    if (opening.kind === "startup" || opening.kind === "cancel") return opening;
    if (opening.kind === "tls") {
      if (!mayAskForTls) throw unsupportedVersion(REQUEST.tls, newest);
      mayAskForTls = false;
      refuseStuffed(client, "SSL request");
      if (await answerTlsRequest(client)) mayAskForGss = false;
    } else {
      if (!mayAskForGss) throw unsupportedVersion(REQUEST.gss, newest);
      mayAskForGss = false;
      refuseStuffed(client, "GSSAPI encryption request");
      client.write(Buffer.from("N"));
    }
  }
}

/** A packet without its length; null when the length is out of bounds. */
async function readPacket(client: ClientStream): Promise<Buffer | null> {
  const length = Buffer.from(await client.read(4)).readInt32BE() - 4;
  if (length < MIN_PACKET_BYTES || length > MAX_PACKET_BYTES) return null;
  return Buffer.from(await client.read(length));
}

/** Refuses bytes sent before the answer to a request: they would count as encrypted bytes (CVE-2021-23214). */
function refuseStuffed(client: ClientStream, after: string): void {
  if (!client.hasUnread()) return;
  throw new ProtocolError(
    SQLSTATE.protocolViolation,
    `received unencrypted data after ${after}`,
    "The client has a fault, or somebody between it and the server has added this.",
  );
}

async function answerTlsRequest(client: ClientStream): Promise<boolean> {
  if (!client.canStartTls) {
    client.write(Buffer.from("N"));
    return false;
  }
  client.write(Buffer.from("S"));
  await client.startTls([ALPN]);
  return true;
}
