// A setting of a WebSocket application is named by its contract, by its schema, by its option, and by what uses it in the
// realtime server, and by nothing in between. Its column has the name of its schema.
import { expect, test } from "bun:test";
import { DEFAULT_WEBSOCKET_SETTINGS } from "../../src/contracts/websocket-application.ts";
import { contractOf, fields } from "../../src/resources/websockets/applications/fields.ts";
import { newApplication } from "../../src/resources/websockets/applications/schema.ts";
import { sourceFiles } from "./source.ts";

const CONTRACT = "src/contracts/websocket-application.ts";
const SCHEMA = "src/resources/websockets/applications/fields.ts";
const OPTION = "src/cli/websockets/application-settings.ts";

const REALTIME = "src/realtime";

/** Each setting with its name in the contract, and the files that use it: no other file names it. */
const settings: [name: string, member: string, uses: string[]][] = [
  ["ping_interval", "pingIntervalSeconds", [`${REALTIME}/heartbeat.ts`]],
  [
    "activity_timeout",
    "activityTimeoutSeconds",
    // The protocol has the same name for it, which is in frames for clients.
    [`${REALTIME}/cluster.ts`, `${REALTIME}/protocol/frames.ts`, "src/cli/websockets/subscriber.ts"],
  ],
  ["max_message_size", "maxMessageBytes", [`${REALTIME}/server/listener.ts`]],
  [
    "client_events_enabled",
    "clientEventsEnabled",
    // Lists have a column with it.
    [`${REALTIME}/client-events.ts`, "src/cli/websockets/application-text.ts"],
  ],
  [
    "subscription_count_enabled",
    "subscriptionCountEnabled",
    [`${REALTIME}/application.ts`, `${REALTIME}/server/warm-up.ts`],
  ],
];

const sources = sourceFiles("src").filter(({ path }) => !/\.test\.ts$|\/test-[a-z-]+\.ts$/.test(path));

test.each(settings)("few files name the setting %s", (name, member, uses) => {
  const naming = sources
    .filter(({ text }) => new RegExp(`\\b(${name}|${member})\\b`).test(text))
    .map(({ path }) => path);
  expect(naming.sort()).toEqual([OPTION, CONTRACT, SCHEMA, ...uses].sort());
});

test("every setting of the contract comes from a member of the API, with the same default", () => {
  const application = { ...newApplication.parse({ name: "main" }), max_connections: 1 };
  expect(contractOf(application)).toEqual(DEFAULT_WEBSOCKET_SETTINGS);
  const listed = settings.map(([name]) => name);
  const others = ["name", "max_connections", "allowed_origins", "webhooks"];
  expect(Object.keys(fields).sort()).toEqual([...listed, ...others].sort());
});
