// The latest wakes of an instance: when, by whom, how long each took, and how long it stayed awake.
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { EventResource } from "../../sdk/index.ts";
import { Button } from "./button.tsx";
import { client } from "./client.ts";
import { wakesKey } from "./live.ts";
import { Failure, Loading } from "./layout.tsx";
import { Ago } from "./time.tsx";
import { type Awake, awakesOf, durationText } from "./wake-list.ts";

/** Each time awake has an event for its beginning and for its end. */
const EVENTS = 60;
const SHOWN = 8;

export function Wakes({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: wakesKey(id),
    queryFn: async () => await latestOf(id),
  });
  const [isWhole, setWhole] = useState(false);
  const all = data === undefined ? [] : awakesOf(data);
  const shown = isWhole ? all : all.slice(0, SHOWN);
  return (
    <>
      <h3 className="mt-5 mb-1 text-sm font-semibold">Wakes and sleeps</h3>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={3} />}
      {data && all.length === 0 && <p className="m-0 text-soft">It has neither slept nor been woken yet.</p>}
      <ol className="m-0 list-none p-0">
        {shown.map((awake) => (
          <AwakeLine key={awake.id} awake={awake} />
        ))}
      </ol>
      {all.length > shown.length && (
        <Button className="mt-3" onClick={() => setWhole(true)}>
          Show {all.length - shown.length} more
        </Button>
      )}
    </>
  );
}

async function latestOf(id: string): Promise<EventResource[]> {
  const filter = { resource: [id], type: ["awake", "asleep"] as const };
  return (await client.events.list({ filter, perPage: EVENTS })).data;
}

function AwakeLine({ awake }: { awake: Awake }) {
  const { from, until, wokenBy, spans } = awake;
  const moment = from ?? until;
  const wholeMs = spans.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <li className="border-b border-line py-2 last:border-b-0">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 grow break-words">
          {from === null ? "Fell asleep" : `Woken by ${wokenBy}`}
          {spans.length > 0 && <span className="text-soft"> in {Math.round(wholeMs)} ms</span>}
        </span>
        <span className="text-xs text-soft">{moment !== null && <Ago at={moment} />}</span>
      </div>
      {spans.length > 0 && (
        <dl className="m-0 flex flex-wrap gap-x-1.5 font-mono text-xs text-soft">
          {spans.map(({ name, ms }) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd className="m-0 mr-2">{Math.round(ms * 10) / 10} ms</dd>
            </Fragment>
          ))}
        </dl>
      )}
      <div className="text-sm text-soft">{awakeText(awake)}</div>
    </li>
  );
}

function awakeText({ from, until, isNow }: Awake): string {
  if (isNow) return "Awake since then.";
  if (until === null) return "When it fell asleep was not recorded.";
  if (from === null) return "It was awake since its start, or since before this list.";
  return `Stayed awake for ${durationText(Date.parse(until) - Date.parse(from))}, then fell asleep.`;
}
