// What of a client's words about itself is passed on.
import { expect, test } from "bun:test";
import { readGatewayMessage } from "../../host/gateway/gateway-messages.ts";
import { presentableReason } from "./wake-reason.ts";

const ADDRESS = "127.0.0.1:53312";

test("names as people give them are left alone", () => {
  const reason = { user: "app", database: "main", application: "Büro 7, 東京 🚀", address: ADDRESS };
  expect(presentableReason(reason)).toEqual(reason);
});

test("what a client did not tell stays left out", () => {
  expect(presentableReason({ user: "app", address: ADDRESS })).toEqual({ user: "app", address: ADDRESS });
});

test("nothing in it can move a cursor, hide, or break a line", () => {
  const application = "a\u001b[2Jb\r\nc\0d\u202ee\u2028f\u0085";
  expect(presentableReason({ user: "app", application, address: ADDRESS }).application).toBe(
    "a?[2Jb??c?d?e?f?",
  );
});

test("texts of any length make a message that the host takes", () => {
  const long = "🚀".repeat(5_000).slice(1);
  const reason = presentableReason({ user: long, database: long, application: long, address: ADDRESS });
  expect(readGatewayMessage(JSON.stringify({ type: "wake", id: "db", reason }))).toMatchObject({ reason });
  expect([...(reason.application ?? "")].length).toBeLessThanOrEqual(128);
  expect(reason.application?.isWellFormed()).toBe(true);
});
