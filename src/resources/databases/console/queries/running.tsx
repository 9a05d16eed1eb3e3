// What runs in a database cluster, read again every few seconds while somebody looks, with buttons to end it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../../console/parts/button.tsx";
import { client } from "../../../../console/parts/client.ts";
import { Confirm } from "../../../../console/parts/dialog.tsx";
import { CheckField } from "../../../../console/parts/field.tsx";
import { Empty, Failure, Loading, Section } from "../../../../console/parts/layout.tsx";
import { useCan } from "../../../../console/parts/session.ts";
import { notify } from "../../../../console/parts/toasts.tsx";
import type { CancelScope, DatabaseQuery } from "../../../../sdk/index.ts";
import { Statement } from "./statement.tsx";
import { timeText } from "./times.ts";

/** While the page is hidden, nothing is read. */
const REFRESH_MS = 3_000;

const STATES: Record<DatabaseQuery["attributes"]["state"], string> = {
  active: "runs",
  idle: "idle",
  idle_in_transaction: "idle, with a transaction open",
  idle_in_failed_transaction: "idle, with a failed transaction open",
};

/** A query that is to be ended, once its reader has confirmed it. */
interface Ending {
  query: DatabaseQuery;
  scope: CancelScope;
}

const QUESTIONS: Record<CancelScope, { title: string; text: string; verb: string; done: string }> = {
  statement: {
    title: "Stop this statement?",
    text: "It fails at its client, and what it has changed is taken back. The session goes on.",
    verb: "Stop the statement",
    done: "The statement stops.",
  },
  session: {
    title: "End this session?",
    text: "Its client is disconnected, and its open transaction is taken back.",
    verb: "End the session",
    done: "The session ends.",
  },
};

export function RunningQueries(props: {
  id: string;
  withIdle: boolean;
  onIdle: (withIdle: boolean) => void;
}) {
  const { id, withIdle, onIdle } = props;
  const canWrite = useCan("databases:write");
  const [ending, setEnding] = useState<Ending>();
  const cache = useQueryClient();
  const queryKey = ["databases", "queries", id, withIdle];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.databases.queries(id, { withIdle, signal }),
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });
  const end = useMutation({
    mutationFn: ({ query, scope }: Ending) => client.databases.cancelQuery(id, query.id, scope),
    onSuccess: (_, { scope }) => notify({ title: QUESTIONS[scope].done }),
    onSettled: async () => await cache.invalidateQueries({ queryKey }),
  });
  const question = QUESTIONS[ending?.scope ?? "statement"];
  return (
    <Section
      title="Running"
      note="Read again every three seconds. Looking here neither wakes the cluster nor keeps it awake."
    >
      <div className="mb-3">
        <CheckField label="Idle sessions as well" isChecked={withIdle} onChange={onIdle} />
      </div>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && !error && (
        <QueryList
          queries={data.data}
          isAsleep={data.meta.is_asleep}
          total={data.meta.total}
          onEnd={canWrite ? setEnding : undefined}
        />
      )}
      <Confirm
        {...question}
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onConfirm={async () => void (ending && (await end.mutateAsync(ending)))}
      />
    </Section>
  );
}

function QueryList(props: {
  queries: readonly DatabaseQuery[];
  isAsleep: boolean;
  total: number;
  /** Undefined for a reader who may end nothing. */
  onEnd: ((ending: Ending) => void) | undefined;
}) {
  const { queries, isAsleep, total, onEnd } = props;
  if (isAsleep)
    return (
      <Empty title="The cluster sleeps" text="Nothing runs in it. The next client that logs in wakes it." />
    );
  if (queries.length === 0) return <p className="m-0 text-soft">Nothing runs at the moment.</p>;
  return (
    <>
      <ul aria-label="Running queries" className="m-0 list-none border-t border-line p-0">
        {queries.map((query) => (
          <QueryRow key={query.id} query={query} onEnd={onEnd} />
        ))}
      </ul>
      {total > queries.length && <p className="text-sm text-soft">And {total - queries.length} more.</p>}
    </>
  );
}

function QueryRow({ query, onEnd }: { query: DatabaseQuery; onEnd: ((ending: Ending) => void) | undefined }) {
  const {
    user,
    database,
    application,
    client_address: address,
    state,
    wait,
    duration_ms: ms,
    text,
    is_text_cut: isCut,
  } = query.attributes;
  const [session = ""] = query.id.split("-");
  const from = [
    database === null ? user : `${user} in ${database}`,
    application,
    address,
    `session ${session}`,
  ];
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 border-b border-line py-2.5">
      <div className="min-w-0 grow basis-80">
        <Statement text={text} isCut={isCut} />
        <p className="mt-1 mb-0 text-xs break-words text-soft">
          {from.filter((part) => part !== null).join(" · ")}
          {wait !== null && state === "active" && ` · waits for ${wait}`}
        </p>
      </div>
      <p className="m-0 text-sm whitespace-nowrap tabular-nums">
        {STATES[state]} <span className="text-soft">for</span> {timeText(ms)}
      </p>
      {onEnd && (
        <div className="flex gap-1">
          {state === "active" && (
            <Button
              aria-label={`Stop the statement of session ${session}`}
              onClick={() => onEnd({ query, scope: "statement" })}
            >
              Stop
            </Button>
          )}
          <Button
            look="ghost"
            aria-label={`End session ${session}`}
            onClick={() => onEnd({ query, scope: "session" })}
          >
            End session
          </Button>
        </div>
      )}
    </li>
  );
}
