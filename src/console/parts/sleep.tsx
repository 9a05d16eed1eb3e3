// The sleep of an instance: its state, the client that woke it last, and earlier wakes.
import type { CacheResource } from "../../sdk/index.ts";
import { Facts, Section } from "./layout.tsx";
import { Ago } from "./time.tsx";
import { Wakes } from "./wakes.tsx";

type Sleep = CacheResource["meta"]["sleep"];

export function SleepSection({ id, sleep }: { id: string; sleep: Sleep }) {
  const { state, since, wakes, last_wake: wake } = sleep;
  const spans = Object.values(wake?.spans_ms ?? {});
  return (
    <Section title="Sleep">
      <Facts
        facts={[
          [
            "State",
            since === null ? (
              state
            ) : (
              <>
                {state}, <Ago key="since" at={since} />
              </>
            ),
          ],
          ["Wakes", String(wakes)],
          ["Last wake", wake === null ? "none yet" : <Ago key="wake" at={wake.at} />],
          ...(wake === null
            ? []
            : ([
                ["Woken by", wokenBy(wake.reason)],
                ["Time to wake", `${Math.round(spans.reduce((sum, span) => sum + span, 0))} ms`],
              ] as [string, string][])),
        ]}
      />
      <Wakes id={id} />
    </Section>
  );
}

function wokenBy(reason: NonNullable<Sleep["last_wake"]>["reason"]): string {
  const { user, application, address } = reason;
  const client = application === null ? user : `${application} as ${user}`;
  return address === null ? client : `${client}, ${address}`;
}
