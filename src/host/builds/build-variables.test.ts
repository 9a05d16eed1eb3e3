// The variables that every build has.
import { expect, test } from "bun:test";
import { buildVariables } from "./build-variables.ts";

const RUNTIME = { mounts: [], links: [], folders: [], server: null, env: {} } as unknown as Parameters<
  typeof buildVariables
>[0];

test("Yarn installs packages in the release, and not in the cache that only builds have", () => {
  const places = { app: "/app", cache: "/cache", home: "/home/app", temporary: null };
  expect(buildVariables(RUNTIME, places)).toMatchObject({
    YARN_NODE_LINKER: "node-modules",
    YARN_CACHE_FOLDER: "/cache/yarn",
  });
});
