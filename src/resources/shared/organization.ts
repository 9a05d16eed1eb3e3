// `GET /meta/organization`: the organization of the token, and what is left of its quotas.
import type { Principal } from "../../api/auth/auth.ts";
import { forbidden } from "../../api/jsonapi/errors.ts";
import { JSON_API } from "../../api/jsonapi/jsonapi.ts";
import { operation, type Operation } from "../../api/operation/operation.ts";
import { z } from "zod";
import type { KindContext } from "../kind.ts";
import { quotaOwnerOf, usagesOf } from "./allocations.ts";
import { organizationResource, type OrganizationResource } from "./organization-schema.ts";
import { portsOf } from "./port-quota.ts";
import { noticesOf, usedOf } from "./quotas.ts";

/** The operation. */
export function organizationOperation(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/meta/organization",
    operationId: "getOrganization",
    tag: "Meta",
    summary: "Get the organization",
    description:
      "The organization of the token, with the quotas of both and the amounts in use. Organizations that stem from the same one share its quotas.",
    ability: null,
    success: {
      status: 200,
      description: "The organization.",
      schema: z.object({ data: organizationResource }),
      contentType: JSON_API,
    },
    async handle({ principal }) {
      return { document: { data: await describe(context, principal) } };
    },
  });
}

async function describe(
  { db, hosts, quotas }: KindContext,
  principal: Principal,
): Promise<OrganizationResource> {
  const { organizationId } = principal;
  if (organizationId === "") throw forbidden("The session has no organization.");
  const [[organization], usages, ports] = await Promise.all([
    db<{ name: string }[]>`select name from organizations where id = ${organizationId}`,
    usagesOf(db, quotaOwnerOf(principal)),
    portsOf(db, { organizationId, hostId: hosts.forNew().id }),
  ]);
  const name = organization?.name ?? "";
  const used = usedOf(usages.ofFamily);
  const { resources, ...ofToken } = usedOf(usages.ofToken);
  const limits = usages.tokenLimits;
  return {
    id: organizationId,
    type: "organizations",
    attributes: { name, slug: slugOf(name) },
    meta: {
      quotas: {
        resources: amount(quotas.resources, used.resources),
        caches: amount(quotas.caches, used.caches),
        databases: amount(quotas.databases, used.databases),
        websockets: amount(quotas.websockets, used.websockets),
        applications: amount(quotas.applications, used.applications),
        ...shared(quotas, used),
        ports: amount(quotas.ports, ports),
      },
      shares_quotas: usages.isShared,
      notices: noticesOf(quotas, usages, ports),
      token:
        principal.kind === "session"
          ? null
          : {
              id: principal.tokenId,
              name: usages.tokenName ?? "",
              quotas: { resources: amount(limits.resources, resources), ...shared(limits, ofToken) },
            },
    },
  };
}

type Shared<Value> = Record<"memoryBytes" | "storageBytes" | "connections", Value>;

function shared(limits: Shared<number | null>, used: Shared<number>) {
  return {
    memory_bytes: amount(limits.memoryBytes, used.memoryBytes),
    storage_bytes: amount(limits.storageBytes, used.storageBytes),
    connections: amount(limits.connections, used.connections),
  };
}

function amount(limit: number | null, used: number) {
  return { limit: limit === 0 ? null : limit, used };
}

/** Lowercase letters and digits with hyphens between. */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}
