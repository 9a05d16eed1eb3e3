// The OK of a login with the proof of the certificate, in the forms that engines send it.
import { expect, test } from "bun:test";
import { withCertificateProof } from "./certificate-proof.ts";
import { MalformedPayload } from "./payload-reader.ts";

const proved = { verifier: Buffer.alloc(20, 1), salt: Buffer.alloc(20, 2), fingerprint: Buffer.alloc(32, 3) };
const digits = new Bun.CryptoHasher("sha256")
  .update(Buffer.concat([proved.verifier, proved.salt, proved.fingerprint]))
  .digest("hex");
const info = Buffer.concat([Buffer.of(65, 1), Buffer.from(digits)]);
/** An OK up to its info, with an inserted id of three bytes and the flag for a changed state. */
const head = Buffer.of(0, 0, 0xfc, 0x10, 0x27, 0x02, 0x40, 0, 0);
const state = Buffer.of(3, 1, 1, 0x41);

test.each([
  ["without info", Buffer.alloc(0), info],
  ["with an empty info", Buffer.of(0), info],
  ["with an info of its own", Buffer.of(2, 0x68, 0x69), info],
  ["with a changed state", Buffer.concat([Buffer.of(0), state]), Buffer.concat([info, state])],
])("an OK %s", (_, rest, expected) => {
  const ok = withCertificateProof(Buffer.concat([head, rest]), proved);
  expect(Buffer.from(ok)).toEqual(Buffer.concat([head, expected]));
});

test("an OK that ends too early is refused", () => {
  expect(() => withCertificateProof(head.subarray(0, -1), proved)).toThrow(MalformedPayload);
});
