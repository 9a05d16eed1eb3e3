// Signatures against the examples of the protocol's documentation.
import { expect, test } from "bun:test";
import { channelAuth, signedQuery, userAuth } from "./signatures.ts";
import { credentials } from "./test-support.ts";

test("a private channel is signed with the connection", () => {
  expect(channelAuth(credentials, "1234.1234", "private-foobar")).toBe(
    "278d425bdf160c739803:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4",
  );
});

test("a presence channel is signed with its user too", () => {
  const user = '{"user_id":10,"user_info":{"name":"Mr. Channels"}}';
  expect(channelAuth(credentials, "1234.1234", "presence-foobar", user)).toEndWith(
    ":31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80",
  );
});

test("a user is signed in", () => {
  expect(userAuth(credentials, "1234.1234", '{"id":"12345"}')).toEndWith(
    ":4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba",
  );
});

test("a request is signed with its body", () => {
  const body = '{"name":"foo","channels":["project-3"],"data":"{\\"some\\":\\"data\\"}"}';
  const query = signedQuery(credentials, { method: "POST", path: "/apps/3/events", body }, 1_353_088_179_999);
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
    auth_key: credentials.key,
    auth_timestamp: "1353088179",
    auth_version: "1.0",
    body_md5: "ec365a775a4cd0599faeb73354201b6f",
    auth_signature: "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c",
  });
});
