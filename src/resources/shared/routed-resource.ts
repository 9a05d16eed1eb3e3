// The description of a resource from which its operations are declared.
import type { z } from "zod";
import type { Principal } from "../../api/auth/auth.ts";
import type { Operation, OperationRequest } from "../../api/operation/operation.ts";
import type { ListRequest, RowPage } from "./lists.ts";

/** The members that a resource's rows must have for its operations. */
export type AnyRow = { id: string; status?: string };

/** The members that all operations of a resource share. */
export interface RoutedResource<
  Row extends AnyRow,
  Parent extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
> {
  tag: string;
  /** The noun of the abilities, such as `caches`. */
  kind: string;
  /** The noun of operation ids, such as `DatabaseCluster`. */
  idNoun: string;
  /** The noun of a 404, such as `database cluster`. */
  noun: string;
  /** The noun where the context is clear, such as `cluster`. */
  shortNoun: string;
  /** The nouns of summaries, in the singular and the plural, such as `a database cluster` and `database clusters`. */
  phrases: { one: string; many: string };
  /** The path at which resources are created and listed. */
  collection: { path: string; params?: Parent };
  /** The path of one resource: the collection's permanent address with the resource's id. */
  item: { path: string; params: Params; idOf(params: z.output<Params>): string };
  schema: z.ZodType;
  /** The schema of resources that an answer may include; undefined until such resources exist. */
  relatedSchema?: z.ZodType;
  includes: readonly string[];
  /** The statuses for which a client may wait; undefined for resources without a status of their own. */
  statuses?: readonly [string, ...string[]];
  /** The status that answers show of a row; that of the row itself when left out. */
  statusOf?(row: Row): string | undefined;
  /** Whether no other status follows this one; false for all statuses when left out. */
  isFinal?(status: string): boolean;
  find(organizationId: string, params: z.output<Params>): Promise<Row | undefined>;
  render(row: Row, principal: Principal): object;
  /**
   * The related resources of an answer with these rows; called only for a client that includes them. Where they may be
   * large, they are read and rendered one after the other, as far as the answer has room.
   */
  related(wanted: readonly string[], rows: Row[], request: RelatedRequest): Related | Promise<Related>;
}

type Related = Iterable<object> | AsyncIterable<object>;

/** The key that finds related resources. */
export interface RelatedRequest {
  principal: Principal;
  params: Record<string, unknown>;
}

/** The resource after a request that an `Idempotency-Key` can make repeatable. */
export interface Made<Row> {
  row: Row;
  isReplayed: boolean;
}

type BodyCheck<Body extends z.ZodObject, Params extends z.ZodObject> = NonNullable<
  Operation<Body, z.ZodObject, Params>["check"]
>;

/** The create operation of a resource. */
export interface CreateRoute<Row, Body extends z.ZodObject, Parent extends z.ZodObject> {
  description: string;
  /** Replaces the usual summary and description of the answer. */
  summary?: string;
  successText?: string;
  body: Body;
  check?: BodyCheck<Body, Parent>;
  /** Whether the answer includes all related resources. */
  isIncluding?: boolean;
  create(request: OperationRequest<z.output<Body>, unknown, z.output<Parent>>): Promise<Made<Row>>;
}

/** The list operation of a resource. */
export interface ListRoute<Row, Parent extends z.ZodObject> {
  description: string;
  /** The values that filter a list; undefined for a list without filters. */
  filters?: Partial<Record<"type" | "region" | "status" | "size" | "scaling_type", readonly string[]>>;
  isFilteredByName?: boolean;
  isFilteredBySlug?: boolean;
  list(request: ListRequest, params: z.output<Parent>): Promise<RowPage<Row>>;
}

/** The change operation of a resource. */
export interface ChangeRoute<Row, Body extends z.ZodObject, Params extends z.ZodObject> {
  description: string;
  body: Body;
  check?: BodyCheck<Body, Params>;
  change(request: OperationRequest<z.output<Body>, unknown, z.output<Params>>): Promise<Row>;
}

/** A further action on a resource, by a POST. */
export interface ActionRoute<Row, Body extends z.ZodObject, Params extends z.ZodObject> {
  /** The last segment of the path, such as `suspend` or `rotate-secret`; operation ids derive from it. */
  verb: string;
  summary: string;
  description: string;
  successText: string;
  body?: Body;
  isIdempotent?: boolean;
  canConflict?: boolean;
  act(request: OperationRequest<z.output<Body>, unknown, z.output<Params>>): Promise<Made<Row>>;
}

/** The delete operation of a resource. */
export interface DeleteRoute<Params extends z.ZodObject, Query extends z.ZodObject> {
  description: string;
  successText?: string;
  query?: Query;
  /** Whether it answers 422 for a resource that cannot be deleted. */
  canRefuse?: boolean;
  delete(request: OperationRequest<unknown, z.output<Query>, z.output<Params>>): Promise<void>;
}
