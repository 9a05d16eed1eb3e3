// Tokens of mysql_native_password, compared with the formula, and the forms of verifiers.
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { nativeVerifier } from "./verifiers.ts";
import { newSalt, parseVerifier, passwordHashOf, tokenOf } from "./native-password.ts";

function sha1(...parts: Uint8Array[]): Buffer {
  return createHash("sha1").update(Buffer.concat(parts)).digest();
}

/** A token as clients compute it. */
function clientToken(password: string, salt: Uint8Array): Buffer {
  const once = sha1(Buffer.from(password));
  const mask = sha1(salt, sha1(once));
  return Buffer.from(once.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

function verifierFor(password: string): Uint8Array {
  const verifier = parseVerifier(nativeVerifier(password));
  if (verifier === null) throw new Error("no verifier");
  return verifier;
}

test("a client's token yields the password's hash, from which tokens for other salts are made", () => {
  const [salt, engineSalt] = [newSalt(), newSalt()];
  const passwordHash = passwordHashOf(clientToken("säcret", salt), salt, verifierFor("säcret"));
  expect(passwordHash).toEqual(Uint8Array.from(sha1(Buffer.from("säcret"))));
  if (passwordHash === null) throw new Error("the token was refused");
  const token: Uint8Array = clientToken("säcret", engineSalt);
  expect(Buffer.from(tokenOf(passwordHash, engineSalt)).equals(token)).toBe(true);
});

test("a token for another password, salt or length is refused", () => {
  const salt = newSalt();
  const verifier = verifierFor("right");
  const token = clientToken("right", salt);
  expect(passwordHashOf(clientToken("wrong", salt), salt, verifier)).toBeNull();
  expect(passwordHashOf(token, newSalt(), verifier)).toBeNull();
  expect(passwordHashOf(token.subarray(1), salt, verifier)).toBeNull();
  expect(passwordHashOf(new Uint8Array(0), salt, verifier)).toBeNull();
  for (let index = 0; index < token.length; index++) {
    const changed = Buffer.from(token);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(passwordHashOf(changed, salt, verifier)).toBeNull();
  }
});

describe("verifiers", () => {
  test.each(["", "*", "invalid", "*THISISNOTAVALIDPASSWORDTHATCANBEUSEDHERE", `${nativeVerifier("a")}0`])(
    "%p is none",
    (text) => {
      expect(parseVerifier(text)).toBeNull();
    },
  );
});

test("a salt has no zero, no dollar sign and no byte above 127", () => {
  for (let count = 0; count < 2_000; count++) {
    const salt = newSalt();
    expect(salt.length).toBe(20);
    expect(salt.every((byte) => byte > 0 && byte < 0x80 && byte !== 0x24)).toBe(true);
  }
});
