// The page of a cache.
import { useQuery } from "@tanstack/react-query";
import { client } from "../../../console/parts/client.ts";
import { Connect } from "../../../console/parts/connect.tsx";
import type { Field } from "../../../console/parts/form-fields.ts";
import { Facts, Section } from "../../../console/parts/layout.tsx";
import type { PageProps } from "../../../console/parts/page.tsx";
import { ResourceChange } from "../../../console/parts/resource-change.tsx";
import { ResourceAction, ResourceDetailPage } from "../../../console/parts/resource-detail.tsx";
import { useCan } from "../../../console/parts/session.ts";
import { bytesText } from "../../../console/parts/sizes.ts";
import { SleepSection } from "../../../console/parts/sleep.tsx";
import { Moment } from "../../../console/parts/time.tsx";
import type { CacheChange, CacheResource } from "../../../sdk/index.ts";
import { cacheKind } from "./kind.ts";
import { snippetsOf, urlOf } from "./snippets.ts";

export default function CachePage({ params }: PageProps) {
  return (
    <ResourceDetailPage
      kind={cacheKind}
      id={params.id ?? ""}
      remove={(id) => client.caches.delete(id)}
      actions={(cache) =>
        cache.attributes.uses_hibernation && (
          <ResourceAction
            kind={cacheKind}
            label="Put to sleep"
            isDisabled={cache.meta.sleep.state !== "awake" || cache.attributes.status !== "available"}
            act={() => client.caches.suspend(cache.id)}
            done={`${cache.attributes.name} sleeps.`}
          />
        )
      }
    >
      {(cache) => (
        <>
          <CacheConnect cache={cache} />
          <CacheFacts cache={cache} />
          {cache.attributes.uses_hibernation && <SleepSection sleep={cache.meta.sleep} />}
          <CacheSettings cache={cache} />
        </>
      )}
    </ResourceDetailPage>
  );
}

function CacheConnect({ cache }: { cache: CacheResource }) {
  const canWrite = useCan("caches:write");
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
        canWrite && (
          <ResourceAction
            kind={cacheKind}
            label="New password"
            question={{
              title: "Make a new password?",
              text: "The engine starts anew with it. The present password is refused from then on, and connections end.",
            }}
            act={() => client.caches.rotateCredentials(cache.id)}
            done="The new password is on its way."
          />
        )
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
