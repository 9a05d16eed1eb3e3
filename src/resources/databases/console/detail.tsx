// The page of a database cluster.
import { CloneButton } from "../../../console/parts/backups/copy-dialog.tsx";
import { RestoreNotice } from "../../../console/parts/backups/restore-progress.tsx";
import { ButtonLink } from "../../../console/parts/button.tsx";
import { MetricsSection } from "../../../console/parts/charts/metrics-section.tsx";
import { PERIODS } from "../../../console/parts/charts/period.ts";
import { client } from "../../../console/parts/client.ts";
import { Connect } from "../../../console/parts/connect.tsx";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceAction, ResourceDetailPage } from "../../../console/parts/resource-detail.tsx";
import { FormerPassword, Rotation } from "../../../console/parts/rotation.tsx";
import { bytesText } from "../../../console/parts/sizes.ts";
import { SleepSection } from "../../../console/parts/sleep.tsx";
import { Moment } from "../../../console/parts/time.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { databaseBackups } from "./backup-kind.ts";
import { databaseCharts } from "./charts.ts";
import { DatabaseSection, useDatabases } from "./databases.tsx";
import { databaseKind } from "./kind.ts";
import { RefreshButton, RefreshNotice } from "./refresh.tsx";
import type { DatabaseSearch } from "./search.ts";
import { DatabaseSettings } from "./settings.tsx";
import { snippetsOf, urlOf } from "./snippets.ts";

export default function DatabasePage({ params, search, setSearch }: PageProps<DatabaseSearch>) {
  return (
    <ResourceDetailPage
      kind={databaseKind}
      id={params.id ?? ""}
      remove={(id) => client.databases.delete(id)}
      actions={(cluster) => (
        <>
          <CloneButton backups={databaseBackups} resource={cluster} />
          {cluster.meta.refresh !== null && <RefreshButton cluster={cluster} />}
          {maySleep(cluster) && (
            <ResourceAction
              kind={databaseKind}
              label="Put to sleep"
              isDisabled={cluster.meta.sleep.state !== "awake" || cluster.attributes.status !== "available"}
              act={() => client.databases.suspend(cluster.id)}
              done={`${cluster.attributes.name} sleeps.`}
            />
          )}
        </>
      )}
    >
      {(cluster) => (
        <>
          <RestoreNotice backups={databaseBackups} resource={cluster} />
          <RefreshNotice cluster={cluster} />
          {cluster.attributes.status === "restore_failed" ? (
            <DatabaseFacts cluster={cluster} />
          ) : (
            <DatabaseParts cluster={cluster} {...{ search, setSearch }} />
          )}
        </>
      )}
    </ResourceDetailPage>
  );
}

/** All that an instance with data has. */
function DatabaseParts(
  props: { cluster: DatabaseClusterResource } & Pick<PageProps<DatabaseSearch>, "search" | "setSearch">,
) {
  const { cluster, search, setSearch } = props;
  return (
    <>
      <DatabaseConnect cluster={cluster} />
      <DatabaseSection key={`databases of ${cluster.id}`} id={cluster.id} {...{ search, setSearch }} />
      <DatabaseFacts cluster={cluster} />
      <QueriesLink cluster={cluster} />
      {maySleep(cluster) && <SleepSection id={cluster.id} sleep={cluster.meta.sleep} />}
      <MetricsSection
        key={cluster.id}
        queryKey={["databases", "metrics", cluster.id]}
        read={(period) => client.databases.metrics(cluster.id, period)}
        charts={databaseCharts}
        periods={PERIODS}
        restWord={maySleep(cluster) ? "asleep" : "not running"}
        {...{ search, setSearch }}
      />
      <DatabaseSettings cluster={cluster} />
    </>
  );
}

function maySleep({ attributes: { config } }: DatabaseClusterResource): boolean {
  return "suspend_seconds" in config && config.suspend_seconds > 0;
}

function DatabaseConnect({ cluster }: { cluster: DatabaseClusterResource }) {
  const databases = useDatabases(cluster.id);
  // A copied address without its database is wrong, so none is shown before the databases are known.
  const database = databases.data === undefined ? undefined : (databases.data[0]?.attributes.name ?? "");
  const { hostname, port, username, password } = cluster.attributes.connection;
  const rows = [
    { label: "Host", value: hostname },
    { label: "Port", value: String(port) },
    ...(username === undefined ? [] : [{ label: "User", value: username }]),
    ...(password === undefined ? [] : [{ label: "Password", value: password }]),
    ...(password === undefined || database === undefined
      ? []
      : [{ label: "URL", value: urlOf(cluster, database) }]),
  ];
  return (
    <Connect
      rows={rows}
      snippets={database === undefined ? [] : snippetsOf(cluster, database)}
      secret={password}
      actions={
        <Rotation
          kind={databaseKind}
          rotate={(options) => client.databases.rotateCredentials(cluster.id, options)}
          atOnce="It is refused as soon as the new password is in force. Sessions stay open."
        />
      }
      notice={
        <FormerPassword
          kind={databaseKind}
          resource={cluster}
          endGrace={() => client.databases.endGrace(cluster.id)}
        />
      }
    />
  );
}

function QueriesLink({ cluster: { id } }: { cluster: DatabaseClusterResource }) {
  return (
    <Section
      title="Queries"
      note="What runs now, with a way to stop it, and what the statements have taken so far."
    >
      <ButtonLink to={`${databaseKind.path}/${id}/queries`}>Show queries</ButtonLink>
    </Section>
  );
}

function DatabaseFacts({ cluster }: { cluster: DatabaseClusterResource }) {
  const { attributes, meta } = cluster;
  return (
    <Section title="About">
      <Facts
        facts={[
          ["Type", attributes.type],
          ["Region", attributes.region],
          ["Engine", meta.engine === null ? "not chosen yet" : `${meta.engine.name} ${meta.engine.version}`],
          ["Memory", meta.limits === null ? "not known yet" : bytesText(meta.limits.memory_bytes)],
          ["On the disk", meta.storage_bytes === null ? "not measured yet" : bytesText(meta.storage_bytes)],
          ...meta.replicas.map(({ hostname, port, status }, index): [string, string] => [
            `Replica ${index + 1}`,
            `${hostname}:${port} (${status})`,
          ]),
          ["Created", <Moment key="created" at={attributes.created_at} />],
          [
            "Id",
            <code key="id" className="font-mono text-xs">
              {cluster.id}
            </code>,
          ],
        ]}
      />
    </Section>
  );
}
