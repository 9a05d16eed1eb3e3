// The page of a database cluster.
import { client } from "../../../console/parts/client.ts";
import { Connect } from "../../../console/parts/connect.tsx";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceAction, ResourceDetailPage } from "../../../console/parts/resource-detail.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { bytesText } from "../../../console/parts/sizes.ts";
import { SleepSection } from "../../../console/parts/sleep.tsx";
import { Moment } from "../../../console/parts/time.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";
import { DatabaseSection, useDatabases } from "./databases.tsx";
import { databaseKind } from "./kind.ts";
import { DatabaseSettings } from "./settings.tsx";
import { snippetsOf, urlOf } from "./snippets.ts";

export default function DatabasePage({ params }: PageProps) {
  return (
    <ResourceDetailPage
      kind={databaseKind}
      id={params.id ?? ""}
      remove={(id) => client.databases.delete(id)}
      actions={(cluster) =>
        maySleep(cluster) && (
          <ResourceAction
            kind={databaseKind}
            label="Put to sleep"
            isDisabled={cluster.meta.sleep.state !== "awake" || cluster.attributes.status !== "available"}
            act={() => client.databases.suspend(cluster.id)}
            done={`${cluster.attributes.name} sleeps.`}
          />
        )
      }
    >
      {(cluster) => (
        <>
          <DatabaseConnect cluster={cluster} />
          <DatabaseSection id={cluster.id} />
          <DatabaseFacts cluster={cluster} />
          {maySleep(cluster) && <SleepSection sleep={cluster.meta.sleep} />}
          <DatabaseSettings cluster={cluster} />
        </>
      )}
    </ResourceDetailPage>
  );
}

function maySleep({ attributes: { config } }: DatabaseClusterResource): boolean {
  return "suspend_seconds" in config && config.suspend_seconds > 0;
}

function DatabaseConnect({ cluster }: { cluster: DatabaseClusterResource }) {
  const canWrite = useCan("databases:write");
  const databases = useDatabases(cluster.id);
  const database = databases.data?.[0]?.attributes.name ?? "";
  const { hostname, port, username, password } = cluster.attributes.connection;
  const rows = [
    { label: "Host", value: hostname },
    { label: "Port", value: String(port) },
    ...(username === undefined ? [] : [{ label: "User", value: username }]),
    ...(password === undefined
      ? []
      : [
          { label: "Password", value: password },
          { label: "URL", value: urlOf(cluster, database) },
        ]),
  ];
  return (
    <Connect
      rows={rows}
      snippets={snippetsOf(cluster, database)}
      secret={password}
      actions={
        canWrite && (
          <ResourceAction
            kind={databaseKind}
            label="New password"
            question={{
              title: "Make a new password?",
              text: "The present password is refused as soon as the new password is in force.",
            }}
            act={() => client.databases.rotateCredentials(cluster.id)}
            done="The new password is on its way."
          />
        )
      }
    />
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
