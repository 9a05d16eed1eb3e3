// A client of TLS 1.3 for Node that sends records as no library would (RFC 8446, sections 5 and 7).
// Arguments: the port, and what to do once the handshake is done and a first question was sent.
import { createCipheriv, createHmac } from "node:crypto";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

const APPLICATION_DATA = 23;
const HANDSHAKE = 22;
const ALERT = 21;
const KEY_UPDATE = 24;
const HASH_BYTES = 32;
const TAG_BYTES = 16;
const KEY_UPDATES = 20_000;

const [port, mode] = process.argv.slice(2);
const socket = connect(Number(port), "127.0.0.1");
const wire = new Duplex({ read() {}, write: (bytes, _, done) => socket.write(bytes, done) });
socket.on("data", (bytes) => wire.push(bytes)).on("error", () => {});
const tls = connectTls({
  socket: wire,
  rejectUnauthorized: false,
  minVersion: "TLSv1.3",
  ciphers: "TLS_AES_128_GCM_SHA256",
});

let secret;
let sequence = 0;
tls
  .on("error", () => {})
  .on("keylog", (line) => {
    const [, found] = /^CLIENT_TRAFFIC_SECRET_0 \w+ (\w+)/.exec(line) ?? [];
    if (found !== undefined) secret = Buffer.from(found, "hex");
  });

const acts = {
  /** Closes and resets in the middle of an answer. */
  reset() {
    socket.pause();
    socket.write(record("question", APPLICATION_DATA));
    process.stdin.once("data", () =>
      socket.write(record([1, 0], ALERT), () => {
        socket.resetAndDestroy();
        process.exit();
      }),
    );
  },
  /** The header of a message that asks for new keys, without its only byte. */
  half() {
    socket.write(
      Buffer.concat([record("question", APPLICATION_DATA), record([KEY_UPDATE, 0, 0, 1], HANDSHAKE)]),
    );
  },
  halfAndEnd() {
    socket.end(
      Buffer.concat([record("question", APPLICATION_DATA), record([KEY_UPDATE, 0, 0, 1], HANDSHAKE)]),
    );
  },
  /** Asks for new keys again and again, and reads nothing. */
  keys() {
    socket.pause();
    socket.write(record("question", APPLICATION_DATA));
    process.stdin.once("data", () =>
      socket.write(Buffer.concat(Array.from({ length: KEY_UPDATES }, keyUpdate))),
    );
  },
};

// The server's tickets are a part of the library's handshake still.
tls.once("secureConnect", () => setImmediate(() => acts[mode]()));
process.stdin.on("end", () => process.exit());

function keyUpdate() {
  const update = record([KEY_UPDATE, 0, 0, 1, 1], HANDSHAKE);
  secret = derive("traffic upd", HASH_BYTES);
  sequence = 0;
  return update;
}

function record(content, type) {
  const inner = Buffer.concat([Buffer.from(content), Buffer.from([type])]);
  const iv = derive("iv", 12);
  iv.writeUInt32BE((iv.readUInt32BE(8) ^ sequence++) >>> 0, 8);
  const header = Buffer.from([APPLICATION_DATA, 3, 3, 0, 0]);
  header.writeUInt16BE(inner.length + TAG_BYTES, 3);
  const cipher = createCipheriv("aes-128-gcm", derive("key", 16), iv).setAAD(header);
  return Buffer.concat([header, cipher.update(inner), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label without a context, for at most one block. */
function derive(label, length) {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
  return Buffer.from(createHmac("sha256", secret).update(info).digest().subarray(0, length));
}
