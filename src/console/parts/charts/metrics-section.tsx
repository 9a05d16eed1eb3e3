// The metrics of a resource: charts under one cursor or a table, over a period that the reader chooses.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { Button } from "../button.tsx";
import { Choice } from "../choice.tsx";
import { Failure, Loading, Section } from "../layout.tsx";
import { ChartGrid } from "./chart-grid.tsx";
import { type MetricsSearch, type Period, PERIOD_NAMES, secondsOf } from "./period.ts";
import type { Charts, SeriesByName } from "./series.ts";
import { MetricsTable } from "./table.tsx";
import { shownSeries, timelineOf } from "./timeline.ts";

/** Once a minute there are new figures. */
const REFRESH_MS = 60_000;

interface MetricsProps<Data extends SeriesByName, Name extends Period> {
  /** Names the metrics among all that the console reads; the period is added. */
  queryKey: readonly unknown[];
  read: (period: Name) => Promise<{ data: Data }>;
  charts: Charts<Data>;
  /** The periods that the API has for this kind, the shortest first. */
  periods: readonly [Name, ...Name[]];
  /** What a gap is called in which the instance had no process. */
  restWord: string;
  search: MetricsSearch;
  setSearch: (change: Partial<MetricsSearch>) => void;
  /** Further choices beside the period. */
  actions?: ReactNode;
}

export function MetricsSection<Data extends SeriesByName, Name extends Period>(
  props: MetricsProps<Data, Name>,
) {
  const { charts, periods, restWord, search } = props;
  const period = periods.find((each) => each === search.period) ?? periods[0];
  const { data: answer, error, refetch, isPlaceholderData } = useMetrics(props, period);
  const timeline = useMemo(
    () => answer && timelineOf(answer.data, secondsOf(answer.period), answer.readMs),
    [answer],
  );
  const shown = useMemo(
    () => answer && timeline && shownSeries(answer.data, charts, timeline),
    [answer, charts, timeline],
  );
  const Form = search.metrics === "table" ? MetricsTable : ChartGrid;
  return (
    <Section title="Metrics" actions={<Controls {...props} period={period} />}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!answer && !error && <Loading lines={6} />}
      {shown?.length === 0 && (
        <p className="m-0 py-2 text-soft">
          Nothing was measured in this time. The first figures come a minute after the start.
        </p>
      )}
      {timeline && shown && shown.length > 0 && (
        <div aria-busy={isPlaceholderData} className={isPlaceholderData ? "opacity-60" : ""}>
          <Form shown={shown} timeline={timeline} restWord={restWord} />
        </div>
      )}
    </Section>
  );
}

function useMetrics<Data extends SeriesByName, Name extends Period>(
  { queryKey, read }: MetricsProps<Data, Name>,
  period: Name,
) {
  return useQuery({
    queryKey: [...queryKey, period],
    queryFn: async () => ({ data: (await read(period)).data, period, readMs: Date.now() }),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

function Controls<Data extends SeriesByName, Name extends Period>(
  props: MetricsProps<Data, Name> & { period: Name },
) {
  const { periods, period, search, setSearch, actions } = props;
  const isTable = search.metrics === "table";
  return (
    <>
      {actions}
      <Choice
        label="Period"
        options={periods.map((value) => ({ value, label: value, title: PERIOD_NAMES[value] }))}
        chosen={period}
        onChoose={(value) => setSearch({ period: value })}
      />
      <Button onClick={() => setSearch({ metrics: isTable ? undefined : "table" })}>
        {isTable ? "Charts" : "Table"}
      </Button>
    </>
  );
}
