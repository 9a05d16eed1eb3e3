// The usage of a month: totals, the days as bars, and each resource, with what sleeping saved.
import { Button, buttonClass } from "../../parts/button.tsx";
import { Failure, Loading, PageFrame } from "../../parts/layout.tsx";
import type { PageProps } from "../../parts/page.tsx";
import { KindChoice, MonthChoice } from "./choices.tsx";
import { Month } from "./month.tsx";
import type { UsageSearch } from "./search.ts";
import { csvPath, filterOf, useUsage } from "./usage-query.ts";

export default function UsagePage({ search, setSearch }: PageProps<UsageSearch>) {
  const filter = filterOf(search);
  const { data, error, refetch, isPlaceholderData, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useUsage(filter);
  return (
    <PageFrame
      title="Usage"
      actions={
        <>
          <MonthChoice month={filter.month} onChoose={(month) => setSearch({ month, day: undefined })} />
          <a href={csvPath(filter)} download className={buttonClass()}>
            Download CSV
          </a>
        </>
      }
    >
      <div className="mb-4">
        <KindChoice {...{ search, setSearch }} />
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={8} />}
      {data && (
        <div aria-busy={isPlaceholderData} className={isPlaceholderData ? "opacity-60" : ""}>
          <Month pages={data.pages} {...{ search, setSearch }} />
          {hasNextPage && (
            <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Show more resources
            </Button>
          )}
        </div>
      )}
    </PageFrame>
  );
}
