// Manifests of releases before formats had a number. The earliest lack members that later releases added. Members have
// the names that those releases wrote, whatever they are called today.
import * as z from "zod/mini";
import { readAs } from "./read.ts";
import { neverAsleep } from "./sleep.ts";

const loose = z.looseObject({});

const schema = z.looseObject({
  spec: z.looseObject({
    exposure: loose,
    applications: z.exactOptional(z.array(z.looseObject({ webhooks: z.array(loose) }))),
  }),
  sleep: z.exactOptional(loose),
});

/** @returns the same manifest with its missing members, which have the meaning that their absence had. */
export function fromFormat1(value: unknown): unknown {
  const { spec, sleep, ...rest } = readAs(schema, value, "The manifest");
  return {
    isReplaced: false,
    servedThrough: "engine",
    isSettled: false,
    madeDatabases: null,
    uid: null,
    ...rest,
    spec: specFrom(spec),
    sleep: sleep === undefined ? neverAsleep() : { usersLeftOut: 0, ...sleep },
  };
}

function specFrom(spec: z.infer<typeof schema>["spec"]): unknown {
  const exposure = { through: "engine", ...spec.exposure };
  if (spec.applications === undefined) return { sleepAfterSeconds: null, ...spec, exposure };
  const applications = spec.applications.map((application) => ({
    ...application,
    webhooks: application.webhooks.map((webhook) => ({ isBatched: false, ...webhook })),
  }));
  return { ...spec, exposure, applications };
}
