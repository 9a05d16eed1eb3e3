// The texts of a client about itself, as they are passed on to the host.
import { expect, test } from "bun:test";
import { readGatewayMessage } from "../../host/gateway/gateway-messages.ts";
import { presentableReason } from "./wake-reason.ts";

const ADDRESS = "127.0.0.1:53312";

test("names in any script are passed on unchanged", () => {
  const reason = { user: "app", database: "main", application: "Büro 7, 東京 🚀", address: ADDRESS };
  expect(presentableReason(reason)).toEqual(reason);
});

test("a member that the client did not send is left out of its wake reason", () => {
  expect(presentableReason({ user: "app", address: ADDRESS })).toEqual({ user: "app", address: ADDRESS });
});

test("control and invisible characters of a wake reason are replaced", () => {
  const application = "a\u001b[2Jb\r\nc\0d\u202ee\u2028f\u0085";
  expect(presentableReason({ user: "app", application, address: ADDRESS }).application).toBe(
    "a?[2Jb??c?d?e?f?",
  );
});

test("overlong texts of a wake reason are cut to a message that the host takes", () => {
  const long = "🚀".repeat(5_000).slice(1);
  const reason = presentableReason({ user: long, database: long, application: long, address: ADDRESS });
  expect(readGatewayMessage(JSON.stringify({ type: "wake", id: "db", reason }))).toMatchObject({ reason });
  expect([...(reason.application ?? "")].length).toBeLessThanOrEqual(128);
  expect(reason.application?.isWellFormed()).toBe(true);
});
