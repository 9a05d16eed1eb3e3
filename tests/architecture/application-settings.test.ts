// A setting of a WebSocket application is named by its column, its schema, its contract and its use, and by nothing in between.
import { expect, test } from "bun:test";
import { sourceFiles } from "./source.ts";

test("few files name a setting of a WebSocket application", () => {
  const naming = sourceFiles("src")
    .filter(({ path }) => !/test/.test(path))
    .filter(({ text }) => /ping_interval|pingInterval/.test(text))
    .map(({ path }) => path);
  expect(naming.sort()).toEqual([
    "src/cli/websockets/application-options.ts",
    "src/cli/websockets/application-text.ts",
    "src/contracts/websocket-application.ts",
    "src/realtime/heartbeat.ts",
    "src/realtime/server/warm-up.ts",
    "src/resources/websockets/applications/fields.ts",
    "src/resources/websockets/applications/schema.ts",
    "src/resources/websockets/spec.ts",
  ]);
});
