// Declares the operations of a resource: create, list, show, change, delete, and further actions on it.
import { z } from "zod";
import { boundedIncluded, boundedPage } from "../../api/jsonapi/answer-size.ts";
import { addressOf } from "../../api/operation/address.ts";
import { notFound } from "../../api/jsonapi/errors.ts";
import { filterQuery, nameFilter, slugFilter } from "../../api/jsonapi/filters.ts";
import { JSON_API, listDocument, singleDocument } from "../../api/jsonapi/jsonapi.ts";
import { operation, type Operation, type OperationRequest } from "../../api/operation/operation.ts";
import { pageDocument, pageOf, pageQuery } from "../../api/jsonapi/pagination.ts";
import { waitQuery } from "../../api/operation/wait.ts";
import type {
  ActionRoute,
  AnyRow,
  ChangeRoute,
  CreateRoute,
  DeleteRoute,
  ListRoute,
  RelatedRequest,
  RoutedResource,
} from "./routed-resource.ts";
import type { ListFilter } from "./lists.ts";

/** Declares the operations of a resource; `resource` holds what they share. */
export class Routes<
  Row extends AnyRow,
  Parent extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
> {
  readonly #resource: RoutedResource<Row, Parent, Params>;
  readonly #single: z.ZodType;

  constructor(resource: RoutedResource<Row, Parent, Params>) {
    this.#resource = resource;
    this.#single = singleDocument(resource.schema, resource.relatedSchema);
  }

  create<Body extends z.ZodObject>(route: CreateRoute<Row, Body, Parent>): Operation {
    const { idNoun, shortNoun, phrases, collection, item, includes } = this.#resource;
    const address = item.path.slice(0, item.path.lastIndexOf("/"));
    return operation<Body, z.ZodObject, Parent>({
      ...this.#shared("write", route.description),
      ...this.#ofCollection(),
      method: "POST",
      path: collection.path,
      operationId: `create${idNoun}`,
      summary: route.summary ?? `Create ${phrases.one}`,
      body: route.body,
      isIdempotent: true,
      ...(route.check && { check: route.check }),
      success: {
        status: 201,
        description: route.successText ?? `The ${shortNoun}, which is being created.`,
        schema: this.#single,
        contentType: JSON_API,
        headers: { Location: `The ${shortNoun}'s address.` },
      },
      handle: async (request) => {
        const { row, isReplayed } = await route.create(request);
        const path = addressOf(address, request.params as Record<string, string>);
        return {
          document: await this.#document(row, route.isIncluding ? includes : [], request),
          headers: { Location: `${request.url.origin}${path}/${row.id}`, ...replayed(isReplayed) },
        };
      },
    });
  }

  list(route: ListRoute<Row, Parent>): Operation {
    const { idNoun, shortNoun, phrases, collection, schema, relatedSchema, includes } = this.#resource;
    return operation({
      ...this.#shared("read", route.description),
      ...this.#ofCollection(),
      method: "GET",
      path: collection.path,
      operationId: `list${idNoun}${idNoun.endsWith("s") ? "es" : "s"}`,
      summary: `List ${phrases.many}`,
      query: z.object({
        ...pageQuery,
        ...(route.isFilteredByName && nameFilter),
        ...(route.isFilteredBySlug && slugFilter),
        ...(route.filters && filterQuery(route.filters)),
      }),
      includes,
      success: {
        status: 200,
        description: `A page of ${shortNoun}s.`,
        schema: listDocument(schema, relatedSchema),
        contentType: JSON_API,
      },
      handle: async (request) => {
        const { principal, query, params, url, includes: wanted } = request;
        const page = pageOf(query);
        const search = {
          organizationId: principal.organizationId,
          filter: filterOf(query as FilterValues),
          page,
        };
        const { rows, total } = await route.list(search, params);
        const data = boundedPage(rows.values().map((row) => this.#resource.render(row, principal)));
        return {
          document: {
            ...pageDocument(url, page, total, data),
            ...(await this.included(wanted, rows, request)),
          },
        };
      },
    });
  }

  show({ description }: { description: string }): Operation {
    const { idNoun, shortNoun, phrases, item, includes, statuses, find, noun } = this.#resource;
    return operation({
      ...this.#shared("read", description),
      method: "GET",
      path: item.path,
      params: item.params,
      operationId: `get${idNoun}`,
      summary: `Get ${phrases.one}`,
      ...(statuses && { query: z.object(waitQuery(statuses)) }),
      includes,
      success: this.#found(`The ${shortNoun}.`),
      handle: async (request) => {
        const { principal, params, includes: wanted } = request;
        const read = () => find(principal.organizationId, params);
        const row = await this.#awaited(request, item.idOf(params), read);
        if (row === undefined) throw notFound(noun);
        return { document: await this.#document(row, wanted, request) };
      },
    });
  }

  change<Body extends z.ZodObject>(route: ChangeRoute<Row, Body, Params>): Operation {
    const { idNoun, shortNoun, phrases, item } = this.#resource;
    return operation<Body, z.ZodObject, Params>({
      ...this.#shared("write", route.description),
      method: "PATCH",
      path: item.path,
      params: item.params,
      operationId: `update${idNoun}`,
      summary: `Change ${phrases.one}`,
      canConflict: true,
      body: route.body,
      ...(route.check && { check: route.check }),
      success: this.#found(`The changed ${shortNoun}.`),
      handle: async (request) => ({
        document: await this.#document(await route.change(request), [], request),
      }),
    });
  }

  action<Body extends z.ZodObject>(route: ActionRoute<Row, Body, Params>): Operation {
    const { verb, summary, body, isIdempotent, canConflict } = route;
    const { idNoun, item } = this.#resource;
    return operation<Body, z.ZodObject, Params>({
      ...this.#shared("write", route.description),
      method: "POST",
      path: `${item.path}/${verb}`,
      params: item.params,
      operationId: verb
        .replace(/^\w+/, `$&${idNoun}`)
        .replaceAll(/-(\w)/g, (_dash, letter) => letter.toUpperCase()),
      summary,
      ...(body && { body }),
      ...(isIdempotent && { isIdempotent }),
      ...(canConflict && { canConflict }),
      success: this.#found(route.successText),
      handle: async (request) => {
        const { row, isReplayed } = await route.act(request);
        return { document: await this.#document(row, [], request), headers: replayed(isReplayed) };
      },
    });
  }

  delete<Query extends z.ZodObject>(route: DeleteRoute<Params, Query>): Operation {
    const { idNoun, shortNoun, phrases, item } = this.#resource;
    return operation<z.ZodObject, Query, Params>({
      ...this.#shared("write", route.description),
      method: "DELETE",
      path: item.path,
      params: item.params,
      operationId: `delete${idNoun}`,
      summary: `Delete ${phrases.one}`,
      ...(route.query && { query: route.query }),
      ...(route.canRefuse && { canRefuse: true }),
      success: { status: 204, description: route.successText ?? `The ${shortNoun} is being deleted.` },
      async handle(request) {
        await route.delete(request);
        return {};
      },
    });
  }

  #shared(right: "read" | "write", description: string) {
    const { tag, kind } = this.#resource;
    return { tag, description, ability: `${kind}:${right}` as const };
  }

  #ofCollection(): { params?: Parent } {
    const { params } = this.#resource.collection;
    return params === undefined ? {} : { params };
  }

  #found(description: string) {
    return { status: 200 as const, description, schema: this.#single, contentType: JSON_API } as const;
  }

  async #document(row: Row, wanted: readonly string[], request: RelatedRequest) {
    const data = this.#resource.render(row, request.principal);
    return { data, ...(await this.included(wanted, [row], request)) };
  }

  /** Reads a resource, and waits for the status that the client asks for, or for a status that it keeps. */
  async #awaited(
    { principal, query, address, signal, waiters }: AwaitedRequest,
    id: string,
    read: () => Promise<Row | undefined>,
  ): Promise<Row | undefined> {
    const { wait } = query as { wait?: string };
    if (wait === undefined) return await read();
    const { statusOf = (row: Row) => row.status, isFinal = () => false } = this.#resource;
    const isReached = (row: Row | undefined) => {
      const status = row === undefined ? undefined : statusOf(row);
      return status === undefined || status === wait || isFinal(status);
    };
    // The address names the resource and what it belongs to, however the client has spelt it.
    const view = `${principal.organizationId} ${address}`;
    return await waiters.until({ id, view }, read, isReached, signal);
  }

  /**
   * The part of a document with the resources that a client wants with these.
   * @throws ApiError 422 when they are too large together.
   */
  async included(wanted: readonly string[], rows: Row[], request: RelatedRequest) {
    if (wanted.length === 0) return {};
    return { included: await boundedIncluded(await this.#resource.related(wanted, rows, request)) };
  }
}

type AwaitedRequest = Pick<OperationRequest, "principal" | "query" | "address" | "signal" | "waiters">;

type FilterName = "name" | "slug" | "type" | "region" | "status" | "size" | "scaling_type";
type FilterValues = Partial<Record<`filter[${FilterName}]`, readonly string[]>>;

/** The filter of a validated query. */
function filterOf(query: FilterValues): ListFilter {
  return {
    names: query["filter[name]"],
    slugs: query["filter[slug]"],
    types: query["filter[type]"],
    regions: query["filter[region]"],
    statuses: query["filter[status]"],
    sizes: query["filter[size]"],
    scalingTypes: query["filter[scaling_type]"],
  };
}

/** The header of an answer about a resource that an earlier request with the same `Idempotency-Key` created. */
function replayed(isReplayed: boolean): Record<string, string> {
  return isReplayed ? { "Idempotent-Replayed": "true" } : {};
}
