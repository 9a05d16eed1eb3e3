// Both sides of SCRAM-SHA-256: against the example of RFC 7677, against each other, and the messages that each refuses.
import { describe, expect, test } from "bun:test";
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { scramVerifier } from "../../lib/verifiers.ts";
import { ProtocolError } from "./errors.ts";
import { ScramClient } from "../../lib/scram-client.ts";
import {
  mechanismsFor,
  readClientFinal,
  readClientFirst,
  recoverClientKey,
  serverFinal,
  serverFirst,
} from "./scram-server.ts";
import {
  isSameHashing,
  makeNonce,
  mockVerifier,
  readVerifier,
  sha256,
  type Verifier,
} from "../../lib/scram.ts";

/** RFC 7677, section 3: the user is `user`, the password `pencil`. */
const EXAMPLE = {
  first: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
  serverNonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
  challenge: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
  final:
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
  signature: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
};

const END_POINT = createHash("sha256").update("a certificate").digest();
const BOUND = Buffer.concat([Buffer.from("p=tls-server-end-point,,"), END_POINT]).toString("base64");

function verifierFor(password: string, salt: Buffer): Verifier {
  const salted = pbkdf2Sync(password, salt, 4096, 32, "sha256");
  const key = (name: string) => createHmac("sha256", salted).update(name).digest();
  return {
    salt: salt.toString("base64"),
    iterations: 4096,
    storedKey: createHash("sha256").update(key("Client Key")).digest(),
    serverKey: key("Server Key"),
  };
}

/** The thrown error, as a client gets it. */
function errorOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof ProtocolError) return error.toBytes().toString("latin1", 5);
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("SCRAM as the server", () => {
  const verifier = verifierFor("pencil", Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64"));

  test("agrees with the example of RFC 7677", () => {
    const first = readClientFirst("SCRAM-SHA-256", EXAMPLE.first, null);
    const challenge = serverFirst(first, verifier, EXAMPLE.serverNonce);
    expect(challenge).toBe(EXAMPLE.challenge);
    const final = readClientFinal(first, challenge, EXAMPLE.final);
    const clientKey = recoverClientKey(verifier, final);
    expect(sha256(clientKey ?? Buffer.alloc(0))).toEqual(verifier.storedKey);
    expect(serverFinal(verifier, final)).toBe(EXAMPLE.signature);
  });

  test("refuses a proof that differs in one bit, and a proof of another password", () => {
    const first = readClientFirst("SCRAM-SHA-256", EXAMPLE.first, null);
    const final = readClientFinal(first, EXAMPLE.challenge, EXAMPLE.final);
    for (let bit = 0; bit < 256; bit++) {
      const proof = Buffer.from(final.proof);
      proof[bit >> 3] = (proof[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(recoverClientKey(verifier, { ...final, proof })).toBeNull();
    }
    const other = verifierFor("Pencil", Buffer.from(verifier.salt, "base64"));
    expect(recoverClientKey(other, final)).toBeNull();
  });

  test("offers channel binding with TLS only", () => {
    expect(mechanismsFor(null)).toEqual(["SCRAM-SHA-256"]);
    expect(mechanismsFor(END_POINT)).toEqual(["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"]);
  });

  test("refuses the channel binding of another connection", () => {
    const first = readClientFirst("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abc", END_POINT);
    const challenge = serverFirst(first, verifier, "xyz");
    const proof = Buffer.alloc(32).toString("base64");
    const finish = (binding: string) => readClientFinal(first, challenge, `c=${binding},r=abcxyz,p=${proof}`);
    expect(finish(BOUND).proof).toHaveLength(32);
    const elsewhere = Buffer.from(`p=tls-server-end-point,,${"x".repeat(32)}`).toString("base64");
    for (const wrong of [elsewhere, "biws", "eSws", ""]) {
      expect(errorOf(() => finish(wrong))).toContain("C28000\0MSCRAM channel binding check failed");
    }
  });

  test("refuses a client from which the offer of channel binding was hidden", () => {
    const downgraded = errorOf(() => readClientFirst("SCRAM-SHA-256", "y,,n=,r=abc", END_POINT));
    expect(downgraded).toContain("C28000\0MSCRAM channel binding negotiation error");
    // In clear there was no offer to remove.
    expect(readClientFirst("SCRAM-SHA-256", "y,,n=,r=abc", null).binding).toBe("eSws");
    expect(readClientFirst("SCRAM-SHA-256", "n,,n=,r=abc", END_POINT).binding).toBe("biws");
  });

  test.each([
    ["SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=a", null, "08P01"],
    ["SCRAM-SHA-1", "n,,n=,r=a", null, "08P01"],
    ["", "n,,n=,r=a", null, "08P01"],
    ["SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=a", END_POINT, "08P01"],
    ["SCRAM-SHA-256-PLUS", "n,,n=,r=a", END_POINT, "08P01"],
    ["SCRAM-SHA-256-PLUS", "y,,n=,r=a", END_POINT, "08P01"],
    ["SCRAM-SHA-256-PLUS", "p=tls-unique,,n=,r=a", END_POINT, "08P01"],
    ["SCRAM-SHA-256", "n,a=root,n=,r=a", null, "0A000"],
    ["SCRAM-SHA-256", "n,,m=x,n=,r=a", null, "0A000"],
    ["SCRAM-SHA-256", "n,x,n=,r=a", null, "08P01"],
    ["SCRAM-SHA-256", "n,,r=a,n=", null, "08P01"],
    ["SCRAM-SHA-256", "n,,n=,r=", null, "08P01"],
    ["SCRAM-SHA-256", "n,,n=,r=a b", null, "08P01"],
    ["SCRAM-SHA-256", "n,,n=,r=a\u00ff", null, "08P01"],
    ["SCRAM-SHA-256", "n,,n=,r=a,m=x", null, "08P01"],
    ["SCRAM-SHA-256", "n,,n=,r=a,", null, "08P01"],
    ["SCRAM-SHA-256", "n,,n=\0,r=a", null, "08P01"],
    ["SCRAM-SHA-256", "x,,n=,r=a", null, "08P01"],
    ["SCRAM-SHA-256", "n", null, "08P01"],
    ["SCRAM-SHA-256", "", null, "08P01"],
  ])("refuses a first message: %s %j", (mechanism, text, endPoint, code) => {
    expect(errorOf(() => readClientFirst(mechanism, text, endPoint))).toContain(`C${code}\0`);
  });

  test.each([
    "",
    "c=biws",
    "c=biws,r=abcxyz",
    "r=abcxyz,c=biws,p=PROOF",
    "c=biws,r=abcxy,p=PROOF",
    "c=biws,r=abcxyzz,p=PROOF",
    "c=biws,r=xyzabc,p=PROOF",
    "c=biws,r=abc,p=PROOF",
    "c=eSws,r=abcxyz,p=PROOF",
    "c=biws,r=abcxyz,p=PROO",
    "c=biws,r=abcxyz,p=PROOF,x=1",
    "c=biws,r=abcxyz,p=PROOF,p=PROOF",
    "c=biws,r=abcxyz,p=",
    "c=biws,r=abcxyz,p=PROOF\0",
    "c=biws,r=abcxyz,x,p=PROOF",
  ])("refuses a last message: %j", (text) => {
    const first = readClientFirst("SCRAM-SHA-256", "n,,n=,r=abc", null);
    const challenge = serverFirst(first, verifier, "xyz");
    const proof = Buffer.alloc(32).toString("base64");
    const given = text.replaceAll("PROOF", proof);
    expect(errorOf(() => readClientFinal(first, challenge, given))).toContain("C08P01\0");
  });

  test("ignores optional extensions", () => {
    const first = readClientFirst("SCRAM-SHA-256", "n,,n=,r=abc,x=1", null);
    expect(first.bare).toBe("n=,r=abc,x=1");
    const challenge = serverFirst(first, verifier, "xyz");
    const proof = Buffer.alloc(32).toString("base64");
    const final = readClientFinal(first, challenge, `c=biws,r=abcxyz,y=2=3,p=${proof}`);
    expect(final.authMessage).toBe(`n=,r=abc,x=1,${challenge},c=biws,r=abcxyz,y=2=3`);
  });
});

describe("SCRAM as the client", () => {
  test("logs in with the key from another client's proof", () => {
    const verifier = readVerifier(scramVerifier("swordfish", "an id"));
    if (verifier === null) throw new Error("the verifier was not understood");
    const salted = pbkdf2Sync(
      "swordfish",
      Buffer.from(verifier.salt, "base64"),
      verifier.iterations,
      32,
      "sha256",
    );
    const clientKey = createHmac("sha256", salted).update("Client Key").digest();
    const client = new ScramClient();
    const first = readClientFirst("SCRAM-SHA-256", client.first, null);
    const challenge = client.readServerFirst(serverFirst(first, verifier, makeNonce()));
    if (challenge === null) throw new Error("the challenge was not understood");
    expect(isSameHashing(challenge.hashing, verifier)).toBe(true);
    const final = readClientFinal(first, challenge.text, client.final(challenge, clientKey, verifier));
    expect(recoverClientKey(verifier, final)).toEqual(clientKey);
    const signature = serverFinal(verifier, final);
    expect(client.isProved(challenge, signature, verifier)).toBe(true);
    for (const wrong of [
      signature.slice(0, -2),
      `v=${Buffer.alloc(32).toString("base64")}`,
      "e=other-error",
      "",
    ]) {
      expect(client.isProved(challenge, wrong, verifier)).toBe(false);
    }
  });

  test("refuses a challenge that does not answer its own nonce", () => {
    const client = new ScramClient();
    const nonce = client.first.slice("n,,n=,r=".length);
    expect(client.readServerFirst(`r=${nonce}x,s=AAAA,i=4096`)).not.toBeNull();
    const wrong = [
      `r=${nonce},s=AAAA,i=4096`,
      "r=other,s=AAAA,i=4096",
      `r=${nonce}x,s=AAAA,i=0`,
      `r=${nonce}x,s=AAAA`,
      "",
    ];
    for (const text of wrong) expect(client.readServerFirst(text)).toBeNull();
  });
});

describe("SCRAM verifiers", () => {
  test("are read in the form of Postgres, and in no other form", () => {
    const text = scramVerifier("swordfish", "an id");
    const verifier = readVerifier(text);
    expect(verifier?.iterations).toBe(4096);
    expect(text).toContain(`:${verifier?.salt}$`);
    const foreign = [
      "",
      "md5abc",
      "SCRAM-SHA-256$0:AAAA$AAAA:AAAA",
      text.replace("$4096", "$"),
      `${text}=`,
      ` ${text}`,
    ];
    for (const other of foreign) expect(readVerifier(other)).toBeNull();
  });

  test("of unknown users have a stable salt that looks like any other", () => {
    const salts = ["a", "b"].map((user) => mockVerifier(user, null).salt);
    expect(salts[0]).not.toBe(salts[1]);
    expect(mockVerifier("a", null).salt).toBe(salts[0] ?? "");
    expect(Buffer.from(salts[0] ?? "", "base64")).toHaveLength(16);
    expect(isSameHashing(mockVerifier("a", null), { salt: salts[0] ?? "", iterations: 4096 })).toBe(true);
  });
});
