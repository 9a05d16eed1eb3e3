// The statements that were run before, to be taken up again.
import { Button } from "../../../../console/parts/button.tsx";
import { Section } from "../../../../console/parts/layout.tsx";
import { Ago } from "../../../../console/parts/time.tsx";
import type { QueryHistory } from "./history.ts";

export function PastStatements(props: { history: QueryHistory; onChoose: (statement: string) => void }) {
  const { history, onChoose } = props;
  return (
    <Section
      title="History"
      note="Kept in this browser alone, the latest 50 statements of this cluster."
      actions={
        history.entries.length > 0 && (
          <Button look="ghost" onClick={history.clear}>
            Clear history
          </Button>
        )
      }
    >
      {history.entries.length === 0 && <p className="m-0 text-soft">Nothing was run here yet.</p>}
      <ul className="m-0 list-none p-0">
        {history.entries.map(({ statement, database, atMs }) => (
          <li key={`${atMs} ${statement}`} className="flex items-baseline gap-4 border-b border-line">
            <button
              type="button"
              onClick={() => onChoose(statement)}
              className="min-w-0 grow truncate py-1.5 text-left font-mono text-xs hover:underline"
            >
              {statement}
            </button>
            <span className="shrink-0 text-xs text-soft">
              {database} · <Ago at={new Date(atMs).toISOString()} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
