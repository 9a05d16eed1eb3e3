// The pages of one resource, as links under its name.
import { Link } from "@tanstack/react-router";
import type { KindIdentity } from "./kind.ts";
import { useCan } from "./session.ts";

const TAB =
  "-mb-px inline-flex min-h-9 items-center border-b-2 border-transparent px-0.5 text-soft no-underline hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink";

/** The pages of a resource; a resource with one page alone has no links. */
export function ResourceTabs({
  kind,
  id,
}: {
  kind: Pick<KindIdentity, "name" | "path" | "noun" | "views" | "hasLog">;
  id: string;
}) {
  const canSeeCredentials = useCan(`${kind.name}:credentials`);
  const log = kind.hasLog === false ? [] : [{ path: "logs", label: "Logs", isForAll: false }];
  const all = [...(kind.views ?? []), ...log];
  const views = all.filter(({ isForAll = false }) => isForAll || canSeeCredentials);
  if (all.length === 0) return null;
  return <PageTabs label={`Pages of this ${kind.noun}`} address={`${kind.path}/${id}`} views={views} />;
}

/** Links to an overview and to the pages below its address. */
export function PageTabs(props: {
  label: string;
  address: string;
  views: readonly { path: string; label: string }[];
}) {
  const { label: name, address, views } = props;
  return (
    <nav aria-label={name} className="mb-6 flex flex-wrap gap-x-5 border-b border-line">
      {[{ path: "", label: "Overview" }, ...views].map(({ path, label }) => (
        <Link
          key={path}
          to={path === "" ? address : `${address}/${path}`}
          activeOptions={{ exact: true, includeSearch: false }}
          className={TAB}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
