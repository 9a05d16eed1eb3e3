// The pages of one resource, as links under its name.
import { Link } from "@tanstack/react-router";
import type { KindIdentity } from "./kind.ts";
import { useCan } from "./session.ts";

const TAB =
  "-mb-px inline-flex min-h-9 items-center border-b-2 border-transparent px-0.5 text-soft no-underline hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink";

export function ResourceTabs({
  kind,
  id,
}: {
  kind: Pick<KindIdentity, "name" | "path" | "noun" | "views">;
  id: string;
}) {
  const canSeeCredentials = useCan(`${kind.name}:credentials`);
  const address = `${kind.path}/${id}`;
  const all = [...(kind.views ?? []), { path: "logs", label: "Logs", isForAll: false }];
  const views = all.filter(({ isForAll = false }) => isForAll || canSeeCredentials);
  return (
    <nav
      aria-label={`Pages of this ${kind.noun}`}
      className="mb-6 flex gap-5 overflow-x-auto border-b border-line"
    >
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
