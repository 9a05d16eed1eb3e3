// The month itself: totals, the days as bars, and each resource.
import { ChartColumn } from "lucide-react";
import type { UsagePage } from "../../../sdk/index.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty, Section } from "../../parts/layout.tsx";
import type { PageProps } from "../../parts/page.tsx";
import { DayBars } from "./day-bars.tsx";
import { figureOf, figuresIn } from "./figures.ts";
import { dayText, monthText } from "./months.ts";
import { ResourceTable } from "./resource-table.tsx";
import type { UsageSearch } from "./search.ts";
import { Totals } from "./totals.tsx";

interface MonthProps extends Pick<PageProps<UsageSearch>, "search" | "setSearch"> {
  /** The pages that were read; the figures of the month are those of the last. */
  pages: readonly UsagePage[];
}

export function Month({ pages, search, setSearch }: MonthProps) {
  const meta = pages.at(-1)?.meta;
  if (meta === undefined) return null;
  if (meta.total === 0) {
    return (
      <Empty
        icon={ChartColumn}
        title={`Nothing in ${monthText(meta.month)}`}
        text="What your resources use appears here: time awake, memory, disk, clients and messages."
      />
    );
  }
  const name = pages[0]?.data[0]?.attributes.name;
  return (
    <>
      {search.resource !== undefined && (
        <p className="mt-0 mb-4 flex flex-wrap items-center gap-3">
          Only {name} is counted.
          <Button onClick={() => setSearch({ resource: undefined })}>Count all</Button>
        </p>
      )}
      <Totals totals={meta.totals} />
      <Days meta={meta} {...{ search, setSearch }} />
      <Resources {...{ pages, search, setSearch }} total={meta.total} />
    </>
  );
}

function Days({ meta, search, setSearch }: Omit<MonthProps, "pages"> & { meta: UsagePage["meta"] }) {
  const names = figuresIn(meta.totals);
  const chosen = names.find((each) => each === search.figure) ?? "memory";
  return (
    <Section
      title="By day"
      actions={
        <Choice
          label="Figure"
          options={names.map((value) => ({ value, label: figureOf(value).label }))}
          chosen={chosen}
          onChoose={(figure) => setSearch({ figure })}
        />
      }
    >
      <DayBars
        month={meta.month}
        days={meta.days}
        figure={figureOf(chosen)}
        chosen={search.day}
        onChoose={(day) => setSearch({ day })}
      />
    </Section>
  );
}

function Resources({ pages, search, setSearch, total }: MonthProps & { total: number }) {
  const usages = pages.flatMap(({ data }) => data);
  const { day, resource } = search;
  return (
    <Section
      title={day === undefined ? "By resource" : `By resource on ${dayText(day)}`}
      note={total > usages.length && `The ${usages.length} oldest of ${total} resources are shown.`}
      actions={
        day !== undefined && <Button onClick={() => setSearch({ day: undefined })}>The whole month</Button>
      }
    >
      <ResourceTable
        usages={usages}
        day={day}
        chosen={resource}
        onChoose={(id) => setSearch({ resource: id })}
      />
    </Section>
  );
}
