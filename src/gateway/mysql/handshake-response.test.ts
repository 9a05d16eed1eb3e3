// Handshake responses of several kinds of clients, and the gateway's responses to the engine in their place.
import { describe, expect, test } from "bun:test";
import { fixedPart, handshakeResponse } from "../../../tests/support/wire/mysql-raw.ts";
import { CONNECT_ATTRS, CONNECT_WITH_DB, PLUGIN_AUTH_LENENC, SSL } from "./capabilities.ts";
import { ProtocolError } from "./errors.ts";
import { applicationOf, engineResponse, isSslRequest, parseHandshakeResponse } from "./handshake-response.ts";
import { MalformedPayload } from "./payload-reader.ts";

const proof = Buffer.alloc(20, 7);
const whole = {
  user: "app",
  proof,
  database: "shop",
  attributes: { _client_name: "libmariadb", program_name: "worker" },
};

test("a handshake response is parsed with all its parts", () => {
  const response = parseHandshakeResponse(handshakeResponse(whole));
  expect(response).toMatchObject({ user: "app", proof, plugin: "mysql_native_password" });
  expect(String(response.database)).toBe("shop");
  expect(applicationOf(response)).toBe("worker");
});

test("without a program's name the library's name is the application", () => {
  const response = parseHandshakeResponse(
    handshakeResponse({ user: "app", attributes: { _client_name: "libmariadb" } }),
  );
  expect(applicationOf(response)).toBe("libmariadb");
  expect(applicationOf(parseHandshakeResponse(handshakeResponse({ user: "app" })))).toBeNull();
});

test("a handshake response cut anywhere is malformed or lacks optional fields only", () => {
  const payload = handshakeResponse(whole);
  for (let length = 0; length < payload.length; length++) {
    const parse = () => parseHandshakeResponse(payload.subarray(0, length));
    // Each field after the proof may be missing, but only as a whole.
    if (length < 32 + 4 + 21) expect(parse).toThrow(MalformedPayload);
    else expect(outcomeOf(parse)).toBeOneOf(["parsed", "MalformedPayload"]);
  }
});

function outcomeOf(action: () => unknown): string {
  try {
    action();
    return "parsed";
  } catch (error) {
    return (error as Error).name;
  }
}

/** The code of the error that a client gets; 0 without one. */
function codeFor(payload: Buffer): number {
  try {
    parseHandshakeResponse(payload);
    return 0;
  } catch (error) {
    return error instanceof ProtocolError ? error.code : -1;
  }
}

describe("a client that is too old is refused", () => {
  test("when it is from before version 4.1", () => {
    expect(codeFor(Buffer.from([5, 0, 255, 255, 255, ...Buffer.from("app\0abcdefgh\0")]))).toBe(1251);
  });

  test("when it sends the old form of the password", () => {
    expect(codeFor(Buffer.concat([fixedPart(0x0205), Buffer.from("app\0abcdefgh\0")]))).toBe(1251);
  });
});

test("a request for TLS is the fixed part alone", () => {
  expect(isSslRequest(fixedPart(0x0200 | SSL))).toBe(true);
  expect(isSslRequest(fixedPart(0x0200))).toBe(false);
  expect(isSslRequest(handshakeResponse({ user: "app", flags: SSL }))).toBe(false);
});

describe("the gateway's response to the engine", () => {
  const token = Buffer.alloc(20, 9);

  test("is the client's response with another token and without TLS", () => {
    const client = handshakeResponse({ ...whole, flags: SSL | PLUGIN_AUTH_LENENC });
    const response = engineResponse(parseHandshakeResponse(client), token);
    expect(response).toEqual(handshakeResponse({ ...whole, proof: token, flags: PLUGIN_AUTH_LENENC }));
  });

  test("has no flags for fields that the client left out", () => {
    const client = handshakeResponse({ user: "app", proof, flags: CONNECT_WITH_DB | CONNECT_ATTRS });
    const cut = client.subarray(0, 32 + 4 + 21);
    const response = parseHandshakeResponse(engineResponse(parseHandshakeResponse(cut), token));
    expect(response).toMatchObject({ user: "app", database: null, attributes: null });
    expect(response.capabilities & (CONNECT_WITH_DB | CONNECT_ATTRS)).toBe(0);
  });

  test("keeps attributes of any length", () => {
    const attributes = { key: "x".repeat(200), other: "y".repeat(200) };
    const long = parseHandshakeResponse(handshakeResponse({ user: "app" }));
    const bytes = Buffer.concat(
      Object.entries(attributes).flatMap((pair) =>
        pair.map((word) => Buffer.from([word.length, ...Buffer.from(word)])),
      ),
    );
    const response = engineResponse({ ...long, attributes: bytes }, token);
    expect(parseHandshakeResponse(response).attributes).toEqual(bytes);
  });
});
