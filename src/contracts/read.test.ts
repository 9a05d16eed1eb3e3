// Refusals of values that break their contract.
import { describe, expect, test } from "bun:test";
import * as z from "zod/mini";
import { gatewayMessageSchema, hostMessageSchema } from "./gateway-link.ts";
import { instanceSpecSchema } from "./instance-spec.ts";
import { observationSchema } from "./observation.ts";
import { ContractError, readAs, readJsonAs } from "./read.ts";
import { clusterConfigSchema } from "./realtime.ts";

const application = {
  id: "wsa-1",
  appId: "1",
  key: "k",
  secrets: [{ secret: "s3cret", expiresAt: null }],
  allowedOrigins: [],
  pingIntervalSeconds: 60,
  activityTimeoutSeconds: 30,
  maxMessageBytes: 10_000,
  maxConnections: 100,
  clientEventsEnabled: true,
  subscriptionCountEnabled: false,
  webhooks: [],
};

const spec = {
  kind: "realtime",
  id: "ws-1",
  engines: ["realtime"],
  users: [],
  exposure: { port: 20_000, scope: "loopback", through: "engine" },
  maxConnections: 100,
  applications: [application],
};

function faultOf(schema: z.core.$ZodType, value: unknown): string {
  try {
    readAs(schema, value, "The value");
  } catch (error) {
    if (error instanceof ContractError) return error.message;
  }
  throw new Error("the value was read");
}

describe("a spec", () => {
  test("is read as it was written", () => {
    expect(readAs<unknown>(instanceSpecSchema, spec, "The spec")).toEqual(spec);
  });

  test("with an unknown member in an application is refused with the path of the member", () => {
    const odd = { ...spec, applications: [application, { ...application, colour: "blue" }] };
    expect(faultOf(instanceSpecSchema, odd)).toBe(
      "The value is not as agreed: applications.1.colour is unknown.",
    );
  });

  test.each(Object.keys(application))("without the member %s of an application is refused", (name) => {
    const { [name as "id"]: _, ...rest } = application;
    const odd = { ...spec, applications: [rest] };
    expect(faultOf(instanceSpecSchema, odd)).toBe(
      `The value is not as agreed: applications.0.${name} is missing.`,
    );
  });

  test("of an unknown kind is refused", () => {
    expect(faultOf(instanceSpecSchema, { ...spec, kind: "mongodb" })).toBe(
      "The value is not as agreed: kind has an unknown value.",
    );
  });

  test("with an id that is a path is refused", () => {
    for (const id of ["../store", "a/b", "", "."]) {
      expect(faultOf(instanceSpecSchema, { ...spec, id })).toBe(
        "The value is not as agreed: id is malformed or out of bounds.",
      );
    }
  });

  test("with many faults is refused with the first faults, and without the value of any member", () => {
    const secrets = [{ secret: ["hunter2"], expiresAt: null }];
    const odd = { ...spec, id: 5, maxConnections: "hunter2", applications: [{ ...application, secrets }] };
    const fault = faultOf(instanceSpecSchema, { ...odd, engines: ["hunter2"], users: ["hunter2"] });
    expect(fault).toEndWith(", and 1 more.");
    expect(fault).not.toContain("hunter2");
  });
});

test("an observation with an unknown member is refused", () => {
  const observation = {
    id: "a",
    state: "running",
    since: "now",
    engine: null,
    limits: null,
    lastError: null,
  };
  expect(faultOf(observationSchema, { ...observation, crashes: 0, sleep: null, mood: "fine" })).toBe(
    "The value is not as agreed: mood is unknown.",
  );
});

test("a configuration of a realtime server that is not an object is refused", () => {
  expect(faultOf(clusterConfigSchema, [])).toBe("The value is not as agreed: it must be of type object.");
});

test("a message of an unknown type is refused, even when it names an instance", () => {
  for (const schema of [hostMessageSchema, gatewayMessageSchema]) {
    expect(faultOf(schema, { type: "explode", id: "cache-1" })).toBe(
      "The value is not as agreed: type has an unknown value.",
    );
  }
});

test("an unknown member is named with a hundred characters at most", () => {
  expect(faultOf(z.strictObject({}), { ["x".repeat(10_000)]: 1 }).length).toBeLessThan(200);
});

test("a text that is not JSON is refused", () => {
  expect(() => readJsonAs(z.string(), "{", "The line")).toThrow("The line is no JSON.");
});
