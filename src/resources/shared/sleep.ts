// The sleep of an instance in answers: its state now, and the client that woke it last.
import { z } from "zod";
import type { Exposure } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Wake } from "../../contracts/sleep.ts";

const moment = (description: string) =>
  z.iso
    .datetime()
    .meta({ description, example: "2026-03-15T08:18:53.204Z", override: { pattern: undefined } });

const optional = (description: string, example: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${description}; null when the client did not send it.`, example });

const span = (description: string, example: number) => z.number().min(0).meta({ description, example });

const wake = z
  .object({
    at: moment("When the client connected, UTC."),
    reason: z
      .object({
        user: z.string().meta({ example: "app" }),
        database: optional("The database that the client asked for", "main"),
        application: optional("The name that the client's program gave itself", "psql"),
        address: z.string().nullable().meta({
          description:
            "Address and port of the client; null when Pilvi itself, as the user `pilvi`, woke the instance for a change.",
          example: "127.0.0.1:53312",
        }),
      })
      .meta({ description: "The client that caused the wake." }),
    spans_ms: z
      .object({
        accept: span("From the connection to the first whole message.", 0.2),
        auth: span("Until the client had proved its password.", 1.9),
        start: span("Until the engine's process existed.", 5.1),
        ready: span("Until the engine accepted connections.", 31.4),
        login: span("Until the client was logged in at the engine.", 2.8),
      })
      .meta({ description: "The durations of the wake's successive parts, in milliseconds." }),
  })
  .meta({ id: "Wake", description: "The start of a sleeping instance for a client." });

/** The member `sleep` of a resource's `meta`. */
export const sleepField = z
  .object({
    state: z.enum(["awake", "asleep", "waking", "draining"]).meta({
      description:
        "An instance that is `asleep` has no process, is `available` all the same, and wakes for the first client that logs in; a `draining` instance is about to sleep.",
      example: "asleep",
    }),
    since: moment("When that state was reached, UTC; null as long as it is not known.").nullable(),
    wakes: z.int().min(0).meta({ description: "The number of wakes of the instance.", example: 12 }),
    last_wake: wake.nullable().meta({ description: "The latest wake; null before the first wake." }),
    pending: z.boolean().meta({
      description:
        "Whether a change to or from hibernation waits for the next stop of the engine, which puts it in force.",
      example: false,
    }),
  })
  .meta({ id: "Sleep", description: "The sleep of the instance, and the cause of its latest wake." });

/**
 * Renders the sleep of an instance.
 * @param seen its last observed state; undefined before the driver has reported it.
 * @param through whether the engine or the gateway is to listen at its port.
 */
export function renderSleep(
  seen: Observation | undefined,
  through: Exposure["through"],
): z.output<typeof sleepField> {
  const pending = seen !== undefined && (seen.sleep !== null) !== (through === "gateway");
  if (seen === undefined || seen.sleep === null) {
    const since = seen?.state === "running" ? seen.since : null;
    return { state: "awake", since, wakes: 0, last_wake: null, pending };
  }
  const { state, since, wakes, lastWake } = seen.sleep;
  return { state, since, wakes, last_wake: lastWake && renderWake(lastWake), pending };
}

/**
 * Why a sleeping instance could not wake, or why a running instance could not be stopped for its sleep. For any other
 * instance the result of its last run knows more.
 */
export function sleepErrorOf(seen: Observation | undefined): string | null {
  return seen?.state === "asleep" || seen?.state === "running" ? seen.lastError : null;
}

function renderWake({ at, reason, spansMs }: Wake): z.output<typeof wake> {
  const { user, database = null, application = null, address } = reason;
  const from = address === "" ? null : address;
  return { at, reason: { user, database, application, address: from }, spans_ms: spansMs };
}
