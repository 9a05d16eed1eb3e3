// Variables that a framework gets where its customer has not set them.
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { Vault } from "../../../lib/secrets.ts";
import type { KindContext } from "../../kind.ts";
import { buildSecretNames, buildVariables, runVariables } from "./all-variables.ts";
import type { EnvironmentRow } from "./store.ts";
import { sealVariables } from "./variables.ts";

const vault = new Vault(randomBytes(32));
const context = {
  vault,
  edge: { domain: "localhost", httpPort: 8_080, httpsPort: null },
} as unknown as KindContext;

function environmentWith(own: Record<string, string>): EnvironmentRow {
  const variables = Object.entries(own).map(([key, value]) => ({ key, value }));
  const sealedVariables = sealVariables(vault, "env", variables);
  const attachments = { databaseSchemaId: null, cacheId: null, websocketApplicationId: null };
  const settings = { build_variables: ["NPM_TOKEN", "VITE_API", "MISSING"] };
  return {
    id: "env",
    slug: "production",
    settings,
    sealedVariables,
    ...attachments,
  } as unknown as EnvironmentRow;
}

describe("Symfony", () => {
  const plan = { framework: "Symfony" };

  test("is built and runs for production", async () => {
    const environment = environmentWith({ SECRET: "hidden", VITE_TITLE: "Shop" });
    const production = { APP_ENV: "prod", APP_DEBUG: "0" };
    expect(buildVariables(context, environment, plan)).toEqual({ ...production, VITE_TITLE: "Shop" });
    expect(await runVariables(context, environment, plan)).toMatchObject({ ...production, SECRET: "hidden" });
  });

  test("is built and runs as its customer says", async () => {
    const own = { APP_ENV: "staging", APP_DEBUG: "1" };
    expect(buildVariables(context, environmentWith(own), plan)).toEqual(own);
    expect(await runVariables(context, environmentWith(own), plan)).toMatchObject(own);
  });
});

test("another framework is built without values of its customer that are not public", () => {
  const environment = environmentWith({ APP_ENV: "staging" });
  expect(buildVariables(context, environment, { framework: "Laravel" })).toEqual({});
  expect(buildVariables(context, environment, { framework: null })).toEqual({});
});

test("a build gets the variables that its customer has named, whose values are secret unless pages have them", () => {
  const environment = environmentWith({ NPM_TOKEN: "hidden", OTHER: "hidden", VITE_API: "shown" });
  const variables = { NPM_TOKEN: "hidden", VITE_API: "shown" };
  expect(buildVariables(context, environment, { framework: null })).toEqual(variables);
  expect(buildSecretNames(environment)).toEqual(["NPM_TOKEN", "MISSING"]);
});

test("SvelteKit takes the scheme and the host of a request from the headers of the edge", async () => {
  const plan = { framework: "SvelteKit" };
  expect(await runVariables(context, environmentWith({}), plan)).toMatchObject({
    PROTOCOL_HEADER: "x-forwarded-proto",
    HOST_HEADER: "x-forwarded-host",
    ADDRESS_HEADER: "x-real-ip",
  });
  expect(buildVariables(context, environmentWith({}), plan)).toEqual({});
});
