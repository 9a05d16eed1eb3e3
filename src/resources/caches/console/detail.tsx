// The page of a cache.
import { useQuery } from "@tanstack/react-query";
import { CloneButton } from "../../../console/parts/backups/copy-dialog.tsx";
import { RestoreNotice } from "../../../console/parts/backups/restore-progress.tsx";
import { MetricsSection } from "../../../console/parts/charts/metrics-section.tsx";
import { type MetricsSearch, PERIODS } from "../../../console/parts/charts/period.ts";
import { client } from "../../../console/parts/client.ts";
import { Connect } from "../../../console/parts/connect.tsx";
import type { Field } from "../../../console/parts/form-fields.ts";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceChange } from "../../../console/parts/resource-change.tsx";
import { ResourceAction, ResourceDetailPage } from "../../../console/parts/resource-detail.tsx";
import { FormerPassword, Rotation } from "../../../console/parts/rotation.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { bytesText } from "../../../console/parts/sizes.ts";
import { SleepSection } from "../../../console/parts/sleep.tsx";
import { Moment } from "../../../console/parts/time.tsx";
import type { CacheChange, CacheResource } from "../../../sdk/index.ts";
import { cacheBackups } from "./backup-kind.ts";
import { cacheCharts } from "./charts.ts";
import { cacheKind } from "./kind.ts";
import { snippetsOf, urlOf } from "./snippets.ts";

export default function CachePage({ params, search, setSearch }: PageProps<MetricsSearch>) {
  return (
    <ResourceDetailPage
      kind={cacheKind}
      id={params.id ?? ""}
      remove={(id) => client.caches.delete(id)}
      actions={(cache) => (
        <>
          <CloneButton backups={cacheBackups} resource={cache} />
          {cache.attributes.uses_hibernation && (
            <ResourceAction
              kind={cacheKind}
              label="Put to sleep"
              isDisabled={cache.meta.sleep.state !== "awake" || cache.attributes.status !== "available"}
              act={() => client.caches.suspend(cache.id)}
              done={`${cache.attributes.name} sleeps.`}
            />
          )}
        </>
      )}
    >
      {(cache) => (
        <>
          <RestoreNotice backups={cacheBackups} resource={cache} />
          {cache.attributes.status === "restore_failed" ? (
            <CacheFacts cache={cache} />
          ) : (
            <CacheParts cache={cache} {...{ search, setSearch }} />
          )}
        </>
      )}
    </ResourceDetailPage>
  );
}

/** All that an instance with data has. */
function CacheParts(
  props: { cache: CacheResource } & Pick<PageProps<MetricsSearch>, "search" | "setSearch">,
) {
  const { cache, search, setSearch } = props;
  return (
    <>
      <CacheConnect cache={cache} />
      <CacheFacts cache={cache} />
      {cache.attributes.uses_hibernation && <SleepSection id={cache.id} sleep={cache.meta.sleep} />}
      <MetricsSection
        key={cache.id}
        queryKey={["caches", "metrics", cache.id]}
        read={(period) => client.caches.metrics(cache.id, period)}
        charts={cacheCharts}
        periods={PERIODS}
        restWord={cache.attributes.uses_hibernation ? "asleep" : "not running"}
        {...{ search, setSearch }}
      />
      <CacheSettings cache={cache} />
    </>
  );
}

function CacheConnect({ cache }: { cache: CacheResource }) {
  const { hostname, port, username, password } = cache.attributes.connection;
  const rows = [
    { label: "Host", value: hostname },
    { label: "Port", value: String(port) },
    ...(username === undefined ? [] : [{ label: "User", value: username }]),
    ...(password === undefined
      ? []
      : [
          { label: "Password", value: password },
          { label: "URL", value: urlOf(cache) },
        ]),
  ];
  return (
    <Connect
      rows={rows}
      snippets={snippetsOf(cache)}
      secret={password}
      actions={
        <Rotation
          kind={cacheKind}
          rotate={(options) => client.caches.rotateCredentials(cache.id, options)}
          atOnce="It is refused as soon as the new password is in force, and connections end."
        />
      }
      notice={
        <FormerPassword kind={cacheKind} resource={cache} endGrace={() => client.caches.endGrace(cache.id)} />
      }
    />
  );
}

function CacheFacts({ cache }: { cache: CacheResource }) {
  const { attributes, meta } = cache;
  return (
    <Section title="About">
      <Facts
        facts={[
          ["Type", attributes.type],
          ["Size", attributes.size],
          ["Region", attributes.region],
          ["Engine", meta.engine === null ? "not chosen yet" : `${meta.engine.name} ${meta.engine.version}`],
          [
            "Memory for keys and values",
            meta.limits === null ? "not known yet" : bytesText(meta.limits.memory_bytes),
          ],
          ["On the disk", meta.storage_bytes === null ? "not measured yet" : bytesText(meta.storage_bytes)],
          ["Created", <Moment key="created" at={attributes.created_at} />],
          [
            "Id",
            <code key="id" className="font-mono text-xs">
              {cache.id}
            </code>,
          ],
        ]}
      />
    </Section>
  );
}

function CacheSettings({ cache }: { cache: CacheResource }) {
  const canWrite = useCan("caches:write");
  const types = useQuery({
    queryKey: ["caches", "types"],
    queryFn: () => client.caches.types(),
    staleTime: Infinity,
  });
  if (!canWrite || cache.attributes.status === "deleting") return null;
  const type = types.data?.data.find((each) => each.type === cache.attributes.type);
  const labels = Object.fromEntries(type?.sizes.map(({ value, label }) => [value, label]) ?? []);
  const adapt = (field: Field) => {
    if (field.name === "eviction_policy" && !cache.attributes.type.endsWith("_valkey")) return undefined;
    return field.name === "size" && type
      ? { ...field, options: type.sizes.map(({ value }) => value) }
      : field;
  };
  return (
    <ResourceChange
      kind={cacheKind}
      resource={cache}
      path="/caches/{id}"
      change={(body) => client.caches.update(cache.id, body as CacheChange)}
      valueOf={(name) => Object.entries(cache.attributes).find(([member]) => member === name)?.[1]}
      adapt={adapt}
      labels={{ size: labels }}
    />
  );
}
