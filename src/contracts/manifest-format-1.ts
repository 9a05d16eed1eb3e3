// Manifests of releases before formats had a number. The earliest lack members that later releases added. Members have
// the names that those releases wrote, whatever they are called today.
import * as z from "zod/mini";
import type { PersistedState } from "./manifest.ts";
import { readAs } from "./read.ts";
import { neverAsleep } from "./sleep.ts";

const loose = z.looseObject({});

const schema = z.looseObject({
  spec: z.looseObject({
    exposure: loose,
    databases: z.exactOptional(z.array(z.looseObject({ wish: z.enum(["present", "absent"]) }))),
    applications: z.exactOptional(z.array(z.looseObject({ webhooks: z.array(loose) }))),
  }),
  wish: z.enum(["present", "removed"]),
  isReplaced: z.exactOptional(z.boolean()),
  isSettled: z.exactOptional(z.boolean()),
  sleep: z.exactOptional(z.looseObject({ isAsleep: z.boolean() })),
});

/** @returns the same manifest with its missing members, which have the meaning that their absence had. */
export function fromFormat1(value: unknown): unknown {
  const { spec, wish, sleep, isReplaced, isSettled, ...rest } = readAs(schema, value, "The manifest");
  const { isAsleep, ...record } = sleep ?? { isAsleep: false, ...neverAsleep() };
  const sleeping: PersistedState = isSettled === true ? "asleepApplied" : "asleep";
  const awake: PersistedState = isReplaced === true ? "changed" : "awake";
  return {
    servedThrough: "engine",
    madeDatabases: null,
    uid: null,
    ...rest,
    spec: specFrom(spec),
    state: wish === "removed" ? "removing" : isAsleep ? sleeping : awake,
    sleep: { usersLeftOut: 0, ...record },
  };
}

function specFrom(spec: z.infer<typeof schema>["spec"]): unknown {
  const exposure = { through: "engine", ...spec.exposure };
  if (spec.databases !== undefined) {
    const databases = spec.databases.map(({ wish, ...rest }) => ({ ...rest, desiredState: wish }));
    return { sleepAfterSeconds: null, ...spec, exposure, databases };
  }
  if (spec.applications === undefined) return { sleepAfterSeconds: null, ...spec, exposure };
  const applications = spec.applications.map((application) => ({
    ...application,
    webhooks: application.webhooks.map((webhook) => ({ isBatched: false, ...webhook })),
  }));
  return { ...spec, exposure, applications };
}
