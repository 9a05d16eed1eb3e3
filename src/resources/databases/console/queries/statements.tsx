// The statements that have taken the most, as a table that is ordered by any of its figures.
import { useQuery } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { client } from "../../../../console/parts/client.ts";
import { Empty, Failure, Loading, Section } from "../../../../console/parts/layout.tsx";
import { RemoveButton } from "../../../../console/parts/remove-button.tsx";
import { useCan } from "../../../../console/parts/session.ts";
import { Moment } from "../../../../console/parts/time.tsx";
import type { DatabaseStatement, StatementOrder } from "../../../../sdk/index.ts";
import { ORDER_NAMES, ORDERS } from "./search.ts";
import { Statement } from "./statement.tsx";
import { timeText } from "./times.ts";

const REFRESH_MS = 30_000;
const CELL = "border-b border-line py-2 pl-4 text-right align-top whitespace-nowrap tabular-nums";
const HEAD = "border-b border-line py-1.5 text-xs font-normal text-soft";

export function SlowStatements(props: {
  id: string;
  sort: StatementOrder;
  onSort: (sort: StatementOrder) => void;
  reset: () => Promise<void>;
}) {
  const { id, sort, onSort, reset } = props;
  const canWrite = useCan("databases:write");
  const { data, error, refetch } = useQuery({
    queryKey: ["databases", "statements", id, sort],
    queryFn: ({ signal }) => client.databases.statements(id, { sort, signal }),
    // Another order keeps the table in place while it is read.
    placeholderData: (former) => former,
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });
  const since = data?.meta.since;
  return (
    <Section
      title="Slow statements"
      note={
        since ? (
          <>
            All runs since <Moment at={since} />, without their constants.
          </>
        ) : undefined
      }
      actions={
        canWrite &&
        data?.meta.is_asleep === false && (
          <RemoveButton
            label="the figures"
            verb="Reset"
            question="The figures of all statements begin anew."
            queryKey={["databases", "statements", id]}
            remove={reset}
          />
        )
      }
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={6} />}
      {data?.meta.is_asleep === true && (
        <Empty
          title="The cluster sleeps"
          text="The figures are kept, and can be read when the cluster is awake."
        />
      )}
      {data?.meta.is_asleep === false && data.data.length === 0 && (
        <p className="m-0 text-soft">No statement has run yet.</p>
      )}
      {data && data.data.length > 0 && <StatementTable statements={data.data} {...{ sort, onSort }} />}
    </Section>
  );
}

function StatementTable(props: {
  statements: readonly DatabaseStatement[];
  sort: StatementOrder;
  onSort: (sort: StatementOrder) => void;
}) {
  const { statements, sort, onSort } = props;
  return (
    // It scrolls by itself on narrow screens, so the keyboard must reach it.
    <div role="region" aria-label="Slow statements" tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr>
            <th scope="col" className={`${HEAD} text-left`}>
              Statement
            </th>
            {ORDER_NAMES.map((name) => (
              <th
                key={name}
                scope="col"
                aria-sort={name === sort ? "descending" : undefined}
                className={`${HEAD} pl-4 text-right`}
              >
                <button
                  type="button"
                  onClick={() => onSort(name)}
                  className={`inline-flex min-h-6 items-center gap-1 hover:text-ink ${name === sort ? "font-medium text-ink" : ""}`}
                >
                  {name === sort && <ArrowDown size={12} aria-hidden />}
                  {ORDERS[name]}
                </button>
              </th>
            ))}
            <th scope="col" className={`${HEAD} pl-4 text-right`}>
              From memory
            </th>
          </tr>
        </thead>
        <tbody>
          {statements.map((statement) => (
            <StatementRow key={statement.id} attributes={statement.attributes} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const count = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

function StatementRow({ attributes }: Pick<DatabaseStatement, "attributes">) {
  const { text, is_text_cut: isCut, user, database, calls, rows, cache_hit_ratio: hits } = attributes;
  const { total_time_ms: total, mean_time_ms: mean, max_time_ms: max } = attributes;
  return (
    <tr>
      <th
        scope="row"
        className="min-w-40 border-b border-line py-2 text-left align-top sm:min-w-64 font-normal"
      >
        <Statement text={text} isCut={isCut} />
        <span className="block text-xs text-soft">
          {user ?? "a dropped user"} in {database ?? "a dropped database"}
        </span>
      </th>
      <td className={CELL}>{count.format(calls)}</td>
      <td className={CELL}>{timeText(total)}</td>
      <td className={CELL}>{timeText(mean)}</td>
      <td className={CELL}>{timeText(max)}</td>
      <td className={CELL}>{count.format(rows)}</td>
      <td className={CELL}>{hits === null ? "–" : percent.format(hits)}</td>
    </tr>
  );
}
