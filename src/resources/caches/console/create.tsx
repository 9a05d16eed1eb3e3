// The page that creates a cache.
import { useQuery } from "@tanstack/react-query";
import { client } from "../../../console/parts/client.ts";
import { commandText } from "../../../console/parts/command.ts";
import { ResourceCreatePage } from "../../../console/parts/resource-create.tsx";
import type { NewCache } from "../../../sdk/index.ts";
import { cacheKind } from "./kind.ts";

export default function CacheCreatePage() {
  const types = useQuery({
    queryKey: ["caches", "types"],
    queryFn: () => client.caches.types(),
    staleTime: Infinity,
  });
  const sizes =
    types.data?.data.flatMap((type) => type.sizes.map(({ value, label }) => [value, label])) ?? [];
  return (
    <ResourceCreatePage
      kind={cacheKind}
      path="/caches"
      // The API checks the body; the form is made from its schema.
      create={(body) => client.caches.create(body as NewCache)}
      commandOf={commandOf}
      labels={{ size: Object.fromEntries(sizes) as Record<string, string> }}
      firstType="platform_valkey"
      hidden={["cluster_id"]}
    />
  );
}

function commandOf(body: Record<string, unknown>): string {
  return commandText(["caches", "create", body.name ?? "NAME"], {
    type: body.type,
    size: body.size,
    region: body.region,
    "eviction-policy": body.eviction_policy,
    public: body.is_public,
    hibernate: body.uses_hibernation,
    "hibernation-timeout": body.hibernation_timeout,
    "auto-upgrade": body.auto_upgrade_enabled,
  });
}
