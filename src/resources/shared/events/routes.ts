// `GET /events`: what happened to the resources of the organization.
import { z } from "zod";
import { can, type Principal } from "../../../api/auth/auth.ts";
import { cursorDocument, cursorOf, cursorPage, cursorQuery } from "../../../api/jsonapi/cursor.ts";
import { filterQuery } from "../../../api/jsonapi/filters.ts";
import { JSON_API } from "../../../api/jsonapi/jsonapi.ts";
import { invalid, type FieldErrors } from "../../../api/jsonapi/errors.ts";
import {
  LAST_EVENT_ID,
  operation,
  type Operation,
  type OperationRequest,
} from "../../../api/operation/operation.ts";
import { pageSizeQuery } from "../../../api/jsonapi/pagination.ts";
import type { KindContext } from "../../kind.ts";
import {
  eventAbilities,
  eventResource,
  eventResourceTypes,
  eventTypes,
  type EventResourceType,
} from "../event-schema.ts";
import { resourceFilter, timeFilter } from "../resource-filter.ts";
import { EventBells } from "./bells.ts";
import { listEvents, type EventFilter } from "./list.ts";
import { STREAM_HEADERS } from "../event-stream.ts";
import { renderEvent } from "./render.ts";
import { openStream } from "./stream.ts";

const PAGE_SIZE = 100;

const EVENT_ID = /^\d{1,18}$/;

const query = z.object({
  ...filterQuery({ type: eventTypes, resource_type: eventResourceTypes }),
  ...resourceFilter("events"),
  ...timeFilter,
  ...cursorQuery,
  ...pageSizeQuery,
  follow: z.enum(["", "1", "true"]).optional().meta({
    description:
      "Keeps the answer open and sends new events, or all events after the event that `after` or `Last-Event-ID` names, as Server-Sent Events.",
    example: "true",
  }),
  after: z
    .string()
    .regex(EVENT_ID, "must be the id of an event")
    .optional()
    .meta({
      description: "With `follow`: the same as the header `Last-Event-ID`, which comes first.",
      example: "184",
      override: { pattern: undefined },
    }),
});

type Query = z.output<typeof query>;

/** The members that only the list has, not the stream. */
const OF_LISTS = ["filter[since]", "filter[until]", "page[cursor]", "page[size]", "per_page"] as const;

/** The operation. */
export function listEventsOperation({ db }: KindContext): Operation {
  const bells = new EventBells();
  const follow = async (
    { principal, query: asked, signal, closing, lastEventId }: OperationRequest<unknown, Query>,
    filter: EventFilter,
  ) => {
    const after = afterOf(asked, lastEventId);
    const signals = [signal, closing];
    const stream = await openStream({ db, bells, principal, filter, after, signals });
    return { stream, headers: STREAM_HEADERS };
  };
  return operation({
    method: "GET",
    path: "/events",
    operationId: "listEvents",
    tag: "Events",
    summary: "List events",
    description:
      "Events of the organization's resources, the newest first, of the types of resources that the token may read; with `follow`, each event at its time. Events outlive their resources.",
    ability: [...new Set(Object.values(eventAbilities))],
    query,
    success: {
      status: 200,
      description: "A page of events, or a stream of them.",
      schema: cursorDocument(eventResource),
      contentType: JSON_API,
      stream:
        "Messages with the `id` of an event and the event as `data`; `event: bookmark` has no event, but an id to go on after.",
      isResumable: true,
    },
    async handle(request) {
      const { principal, query: asked, url } = request;
      const size = asked.per_page ?? asked["page[size]"] ?? PAGE_SIZE;
      const filter = {
        organizationId: principal.organizationId,
        types: wanted(asked["filter[type]"]),
        resourceTypes: readable(principal, wanted(asked["filter[resource_type]"])),
        resourceIds: asked["filter[resource]"] ?? null,
      };
      if (asked.follow !== undefined) return await follow(request, filter);
      const { rows, next } = await listEvents(db, filter, {
        since: asked["filter[since]"] ?? null,
        until: asked["filter[until]"] ?? null,
        cursor: cursorOf(asked["page[cursor]"]),
        size,
      });
      return { document: cursorPage(url, { size, next, data: rows.map(renderEvent) }) };
    },
  });
}

/** The event after which the stream goes on. @throws ApiError 422 */
function afterOf(asked: Query, lastEventId: string | null): string | null {
  const errors: FieldErrors = {};
  for (const name of OF_LISTS) {
    if (asked[name] !== undefined) errors[name] = [`The field ${name} does not go with follow.`];
  }
  if (lastEventId !== null && !EVENT_ID.test(lastEventId)) {
    errors[LAST_EVENT_ID] = ["A Last-Event-ID is the id of an event."];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return lastEventId ?? asked.after ?? null;
}

/** An empty filter lets every event through. */
function wanted<Value>(values: Value[] | undefined): Value[] | null {
  return values === undefined || values.length === 0 ? null : values;
}

/** The requested resource types that the token may see; null is every type. */
function readable(principal: Principal, asked: EventResourceType[] | null): EventResourceType[] | null {
  const visible = eventResourceTypes.filter((type) => can(principal, eventAbilities[type]));
  if (asked === null) return visible.length === eventResourceTypes.length ? null : visible;
  return asked.filter((type) => visible.includes(type));
}
