// The applications in a WebSocket cluster: a few are shown whole, many are lines that open.
import { ChevronRight } from "lucide-react";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { Failure, Loading, Section } from "../../../console/parts/layout.tsx";
import { countText, ListCount, ListFilters, NothingFits } from "../../../console/parts/list-filters.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { Ago } from "../../../console/parts/time.tsx";
import type { WebsocketApplicationResource, WebsocketServerResource } from "../../../sdk/index.ts";
import { Application, useApplications } from "./application.tsx";
import { websocketKind } from "./kind.ts";
import type { WebsocketSearch } from "./search.ts";

/** As many as a reader still scrolls through. */
const MAX_WHOLE = 4;

type ListProps = { cluster: WebsocketServerResource } & Pick<
  PageProps<WebsocketSearch>,
  "search" | "setSearch"
>;

export function Applications({ cluster, search, setSearch }: ListProps) {
  const canWrite = useCan("websockets:write");
  const { data, error, refetch } = useApplications(cluster.id);
  const all = data ?? [];
  const shown = all.filter((application) => fits(application, search.q));
  const areWhole = all.length <= MAX_WHOLE;
  return (
    <>
      <Section
        title="Applications"
        note="Each application has a key, a secret and channels of its own."
        actions={
          canWrite &&
          data && (
            <ButtonLink to={`${websocketKind.path}/${cluster.id}/applications/new`}>
              Create application
            </ButtonLink>
          )
        }
      >
        {error && <Failure error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading />}
        {data?.length === 0 && <p className="m-0 text-soft">There are no applications in it.</p>}
        {(all.length > 1 || search.q !== undefined) && (
          <>
            <ListFilters label="Search by name, id or key" {...{ search, setSearch }} />
            <ListCount text={countText(shown.length, all.length)} />
          </>
        )}
        {all.length > 0 && shown.length === 0 && <NothingFits />}
        {!areWhole && <Lines {...{ cluster, search, setSearch }} applications={shown} />}
      </Section>
      {areWhole &&
        shown.map((application) => (
          <Application key={application.id} {...{ cluster, application }} isOnly={all.length === 1} />
        ))}
    </>
  );
}

function fits({ id, attributes }: WebsocketApplicationResource, q: string | undefined): boolean {
  if (q === undefined) return true;
  const { name, app_id: appId, key } = attributes;
  return name.includes(q.toLowerCase()) || [id, appId, key].includes(q);
}

/** The newest first; the line in the address is open, and so is a line that is left alone. */
function Lines(props: ListProps & { applications: readonly WebsocketApplicationResource[] }) {
  const { cluster, applications, search, setSearch } = props;
  return (
    <ul aria-label="Applications" className="m-0 list-none p-0">
      {applications.toReversed().map((application) => {
        const isOpen = application.id === search.application || applications.length === 1;
        return (
          <li key={application.id} className="border-b border-line">
            <Line
              application={application}
              isOpen={isOpen}
              onToggle={() => setSearch({ application: isOpen ? undefined : application.id })}
            />
            {isOpen && (
              <div className="pt-2 pl-6">
                <Application {...{ cluster, application }} isOnly={false} />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Line(props: { application: WebsocketApplicationResource; isOpen: boolean; onToggle: () => void }) {
  const { application, isOpen, onToggle } = props;
  const { name, app_id: appId, max_connections: most, created_at: createdAt } = application.attributes;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="grid min-h-11 w-full grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-2 px-1 text-left hover:bg-hover sm:grid-cols-[1rem_minmax(0,1.2fr)_minmax(0,2fr)_7rem]"
    >
      <ChevronRight size={15} aria-hidden className={isOpen ? "rotate-90" : ""} />
      <span className="truncate font-medium">{name}</span>
      <span className="truncate text-sm text-soft">
        {most} connections<span className="hidden sm:inline"> · app id {appId}</span>
      </span>
      <span className="hidden text-right text-sm text-soft sm:block">
        {createdAt && <Ago at={createdAt} />}
      </span>
    </button>
  );
}
