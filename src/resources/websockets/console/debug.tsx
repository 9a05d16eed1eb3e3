// The debug page of a WebSocket application: what happens in it, as it happens, and a test event.
import { Radio } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../console/parts/button.tsx";
import { Empty, Failure, PageFrame, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { useApplications } from "./application.tsx";
import { type FeedState, useDebugFeed } from "./debug-feed.ts";
import { DebugLines } from "./debug-lines.tsx";
import { PublishForm } from "./debug-publish.tsx";
import type { DebugSearch } from "./debug-search.ts";
import { type Group, groups, isIn } from "./debug-text.ts";
import { websocketKind } from "./kind.ts";

const STATES: Record<FeedState, string> = {
  connecting: "Connecting…",
  running: "Live: what happens from now on appears here.",
  starting: "The cluster is being started.",
  asleep: "The cluster sleeps. Watching does not wake it; a client or a published event does.",
  unavailable: "The cluster does not report at the moment. The page goes on when it does.",
  offline: "Pilvi cannot be reached. The page goes on when it can.",
};

export default function DebugPage({ params, search, setSearch }: PageProps<DebugSearch>) {
  const { id: clusterId = "", application: id = "" } = params;
  const canWatch = useCan("websockets:credentials");
  const { data, error, refetch } = useApplications(clusterId);
  const name = data?.find((application) => application.id === id)?.attributes.name ?? "";
  return (
    <PageFrame
      title={`Debug ${name}`.trim()}
      back={{ to: `${websocketKind.path}/${clusterId}`, label: "WebSocket cluster" }}
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {canWatch ? (
        <>
          <Live {...{ clusterId, id, search, setSearch }} />
          <PublishForm clusterId={clusterId} id={id} />
        </>
      ) : (
        <Empty
          icon={Radio}
          title="Your role does not show event data"
          text="Watching an application takes the right to see its credentials."
        />
      )}
    </PageFrame>
  );
}

function Live(
  props: { clusterId: string; id: string } & Pick<PageProps<DebugSearch>, "search" | "setSearch">,
) {
  const { clusterId, id, search, setSearch } = props;
  const { feed, lines, state, error, isPaused, waiting } = useDebugFeed(clusterId, id);
  const text = search.q?.toLowerCase();
  const shown = lines.filter(
    ({ event }) =>
      isIn(search.show, event) && (text === undefined || JSON.stringify(event).toLowerCase().includes(text)),
  );
  return (
    <Section
      title="Live"
      actions={
        <>
          <Button aria-pressed={isPaused} onClick={() => feed.setPaused(!isPaused)}>
            {isPaused ? `Go on${waiting > 0 ? ` (${waiting} new)` : ""}` : "Pause"}
          </Button>
          <Button onClick={() => feed.clear()}>Clear</Button>
        </>
      }
    >
      {error ? (
        <Failure error={error} retry={() => feed.retry()} />
      ) : (
        <p role="status" data-feed={state} className="mt-0 mb-3 text-sm text-soft">
          {isPaused ? "Paused. " : ""}
          {STATES[state]}
        </p>
      )}
      <Filters {...{ search, setSearch }} />
      {shown.length === 0 ? (
        <p className="m-0 rounded-lg border border-dashed border-edge p-6 text-soft">
          {lines.length === 0
            ? "Nothing has happened since this page was opened."
            : "No line fits the filters."}
        </p>
      ) : (
        <DebugLines lines={shown} />
      )}
    </Section>
  );
}

function Filters({ search, setSearch }: Pick<PageProps<DebugSearch>, "search" | "setSearch">) {
  const [text, setText] = useState(search.q ?? "");
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <input
        type="search"
        aria-label="Search in the lines"
        placeholder="Channel, event, data, socket…"
        className="input max-w-72"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setSearch({ q: event.target.value.trim() || undefined });
        }}
      />
      <select
        aria-label="Show only"
        className="input w-auto"
        value={search.show ?? ""}
        onChange={(event) => setSearch({ show: (event.target.value || undefined) as Group | undefined })}
      >
        <option value="">Everything</option>
        {Object.entries(groups).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
