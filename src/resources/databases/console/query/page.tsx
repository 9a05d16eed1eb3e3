// The page that runs statements in the databases of a cluster.
import { useCallback, useRef, useState } from "react";
import { Button } from "../../../../console/parts/button.tsx";
import { CheckField, SelectField } from "../../../../console/parts/field.tsx";
import { Empty, Failure, Loading, PageFrame } from "../../../../console/parts/layout.tsx";
import type { PageProps } from "../../../../console/parts/page.tsx";
import { useResource } from "../../../../console/parts/resources.ts";
import { useCan, useMe } from "../../../../console/parts/session.ts";
import { type DatabaseClusterResource, PilviError } from "../../../../sdk/index.ts";
import { useDatabases } from "../databases.tsx";
import { databaseKind } from "../kind.ts";
import { useCatalog } from "./catalog.ts";
import { EditorField } from "./editor-field.tsx";
import { useHistory } from "./history.ts";
import { QueryFault, QueryOutcome } from "./outcome.tsx";
import { PastStatements } from "./past-statements.tsx";
import type { Editor } from "./plain-editor.ts";
import { useRun } from "./run.ts";

export default function QueryPage({ params: { id = "" } }: PageProps) {
  const cluster = useResource(databaseKind, id);
  const databases = useDatabases(id);
  const me = useMe();
  const canQuery = useCan("databases:credentials");
  const error = cluster.error ?? databases.error;
  const back = { to: `/databases/${id}`, label: cluster.data?.attributes.name ?? "Database cluster" };
  const isLoading = cluster.data === undefined || databases.data === undefined || me.data === undefined;
  return (
    <PageFrame title="Query" back={back}>
      {error && (
        <Failure error={error} retry={() => void Promise.all([cluster.refetch(), databases.refetch()])} />
      )}
      {!error && isLoading && <Loading lines={8} />}
      {!isLoading && !canQuery && (
        <Empty
          title="Your role runs no statements"
          text="A statement runs with the cluster's credentials, which your role does not show."
        />
      )}
      {!isLoading && canQuery && databases.data.length === 0 && (
        <Empty title="No databases" text="Add a database on the page of the cluster." />
      )}
      {!isLoading && canQuery && databases.data.length > 0 && (
        <QueryForm
          cluster={cluster.data}
          databases={databases.data.map((each) => ({ value: each.id, label: each.attributes.name }))}
          userId={me.data.id}
        />
      )}
    </PageFrame>
  );
}

interface FormProps {
  cluster: DatabaseClusterResource;
  databases: { value: string; label: string }[];
  userId: string;
}

function QueryForm({ cluster, databases, userId }: FormProps) {
  const { protocol } = cluster.attributes.connection;
  const editor = useRef<Editor>(null);
  const keepEditor = useCallback((made: Editor | null) => void (editor.current = made), []);
  const [chosenId, setChosenId] = useState(databases[0]?.value ?? "");
  const [isReadOnly, setReadOnly] = useState(true);
  const [wasUsed, setUsed] = useState(false);
  const history = useHistory(userId, cluster.id);
  // The chosen database may have been deleted meanwhile.
  const database = databases.find(({ value }) => value === chosenId) ?? databases[0];
  const databaseId = database?.value ?? "";
  const statements = useRun(cluster.id, (error, { statement }) => {
    if (error instanceof PilviError) editor.current?.mark(error.engine?.position ?? null, statement);
  });
  const isAwake = cluster.meta.sleep.state === "awake";
  const schema = useCatalog(cluster.id, databaseId, protocol, wasUsed && isAwake);
  const run = () => {
    const statement = editor.current?.takeStatement() ?? "";
    if (statement.trim() === "" || statements.isRunning) return;
    history.add({ statement, database: database?.label ?? "", atMs: Date.now() });
    statements.run({ statement, databaseId, isReadOnly });
  };
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="w-56">
          <SelectField label="Database" value={databaseId} options={databases} onChange={setChosenId} />
        </div>
        <div className="sm:pt-6">
          <CheckField
            label="Read-only"
            note={isReadOnly ? "The engine refuses to change anything." : "Statements change data."}
            isChecked={isReadOnly}
            onChange={setReadOnly}
          />
        </div>
      </div>
      <EditorField {...{ protocol, schema }} onReady={keepEditor} onRun={run} onFocus={() => setUsed(true)} />
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" isBusy={statements.isRunning} onClick={run}>
          Run
        </Button>
        {statements.isRunning && <Button onClick={statements.cancel}>Cancel</Button>}
        <span className="text-xs text-soft">
          {isAwake
            ? "Ctrl-Enter or ⌘-Enter runs what is selected, or all."
            : "The cluster sleeps; a statement wakes it."}
        </span>
      </div>
      {!statements.isRunning && statements.error && <QueryFault error={statements.error} />}
      {!statements.isRunning && statements.result && (
        <QueryOutcome key={statements.number} result={statements.result} />
      )}
      <PastStatements history={history} onChoose={(statement) => editor.current?.replaceText(statement)} />
    </div>
  );
}
