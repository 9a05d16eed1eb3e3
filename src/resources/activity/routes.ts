// `GET /activity`: who changed what in the organization, from where, and when.
import { z } from "zod";
import { cursorDocument, cursorOf, cursorPage, cursorQuery } from "../../api/jsonapi/cursor.ts";
import { JSON_API } from "../../api/jsonapi/jsonapi.ts";
import { pageSizeQuery } from "../../api/jsonapi/pagination.ts";
import { operation, type Operation } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { resourceFilter, timeFilter } from "../shared/resource-filter.ts";
import { listActivity, type ActivityRow } from "./store.ts";
import { activityResource, type ActivityResource } from "./schema.ts";

const PAGE_SIZE = 100;
const MAX_WORDS = 20;

const words = (what: string, example: string) =>
  z
    .string()
    .regex(/^[A-Za-z_-]{1,40}(,[A-Za-z_-]{1,40})*$/, "must be words with commas between them")
    .transform((text) => text.split(","))
    .refine((values) => values.length <= MAX_WORDS, `may have ${MAX_WORDS} words at most`)
    .optional()
    .meta({
      description: `Only ${what}.`,
      example: [example],
      param: { style: "form", explode: false },
      override: { type: "array", items: { type: "string" } },
    });

const query = z.object({
  "filter[action]": words("these actions, such as `create`, `update` and `delete`", "delete"),
  "filter[kind]": words("actions on these kinds, such as `caches`, `members` and `tokens`", "caches"),
  ...resourceFilter("activity"),
  ...timeFilter,
  ...cursorQuery,
  ...pageSizeQuery,
});

/** The operation. */
export function activityOperation({ db }: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/activity",
    operationId: "listActivity",
    tag: "Activity",
    summary: "List activity",
    description:
      "Every request that changed something in the organization or in the account of a member, and sign-ins of members, with its token or user and the address that it came from, the newest first. Activity outlives what it speaks of.",
    ability: "activity:read",
    query,
    success: {
      status: 200,
      description: "A page of activity.",
      schema: cursorDocument(activityResource),
      contentType: JSON_API,
    },
    async handle({ principal: { organizationId }, query: asked, url }) {
      const size = asked.per_page ?? asked["page[size]"] ?? PAGE_SIZE;
      const filter = {
        organizationId,
        actions: asked["filter[action]"] ?? null,
        kinds: asked["filter[kind]"] ?? null,
        resourceIds: asked["filter[resource]"] ?? null,
        since: asked["filter[since]"] ?? null,
        until: asked["filter[until]"] ?? null,
      };
      const cursor = cursorOf(asked["page[cursor]"]);
      const { rows, next } = await listActivity(db, filter, { cursor, size });
      return { document: cursorPage(url, { size, next, data: rows.map(render) }) };
    },
  });
}

function render(row: ActivityRow): ActivityResource {
  const { id, at, action, kind, resourceId, address, requestId, details } = row;
  return {
    id,
    type: "activities",
    attributes: {
      action,
      kind,
      resource_id: resourceId,
      actor: actorOf(row),
      address: address === "" ? null : address,
      occurred_at: at,
      details,
    },
    meta: { request_id: requestId },
  };
}

function actorOf(row: ActivityRow): ActivityResource["attributes"]["actor"] {
  const { tokenId, tokenName, userId, userEmail } = row;
  if (userId !== null) return { type: "user", id: userId, name: userEmail };
  return tokenId === null ? null : { type: "token", id: tokenId, name: tokenName };
}
