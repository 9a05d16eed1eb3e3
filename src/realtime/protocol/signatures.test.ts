// Signatures, against the vectors of the protocol's documentation.
import { describe, expect, test } from "bun:test";
import { channelText, hmacHex, isAuthorized, isSignedBy, md5Hex, userText } from "./signatures.ts";

const KEY = "278d425bdf160c739803";
const SECRET = "7ad3773142a6692b25b8";
const PRESENCE_DATA = '{"user_id":10,"user_info":{"name":"Mr. Channels"}}';

describe("signatures", () => {
  test.each([
    [
      channelText("1234.1234", "private-foobar"),
      "58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4",
    ],
    [
      channelText("1234.1234", "presence-foobar", PRESENCE_DATA),
      "31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80",
    ],
    [
      userText("1234.1234", '{"id":"12345"}'),
      "4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba",
    ],
    [
      "POST\n/apps/3/events\nauth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0&body_md5=ec365a775a4cd0599faeb73354201b6f",
      "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c",
    ],
  ])("of %p", (text, signature) => {
    expect(hmacHex(SECRET, text)).toBe(signature);
    expect(isSignedBy(["another", SECRET], text, signature)).toBeTrue();
    expect(isAuthorized(`${KEY}:${signature}`, { key: KEY, secrets: [SECRET] }, text)).toBeTrue();
    expect(isSignedBy(["another"], text, signature)).toBeFalse();
    expect(isSignedBy([], text, signature)).toBeFalse();
    expect(isSignedBy([SECRET], `${text} `, signature)).toBeFalse();
    expect(isSignedBy([SECRET], text, signature.slice(1))).toBeFalse();
  });

  test("of a body are its MD5", () => {
    const body = '{"name":"foo","channels":["project-3"],"data":"{\\"some\\":\\"data\\"}"}';
    expect(md5Hex(body)).toBe("ec365a775a4cd0599faeb73354201b6f");
  });

  test.each([[undefined], [null], [1], [{}], [[]], [""], [":"], [`${KEY}:`], [`${KEY}`], [`${KEY}:😀`]])(
    "%p proves nothing",
    (auth) => expect(isAuthorized(auth, { key: KEY, secrets: [SECRET] }, "text")).toBeFalse(),
  );
});
