// An operation of the API as data: route, ability, validation, handler and documentation come from a single
// declaration.
import type { z } from "zod";
import type { Ability, Principal } from "../auth/auth.ts";
import type { Client } from "../auth/client.ts";
import type { SocketHandler } from "./client-socket.ts";
import type { Deprecation } from "./deprecation.ts";
import type { FieldErrors } from "../jsonapi/errors.ts";
import type { IdempotentRequest } from "./idempotency.ts";
import type { Waits } from "./wait.ts";

/** The content type of tables. */
export const CSV = "text/csv";

/** The content type of streams of events, and the header with which a client continues a stream. */
export const EVENT_STREAM = "text/event-stream";
export const LAST_EVENT_ID = "Last-Event-ID";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** The input of a handler; body, query and params have passed the operation's own schemas. */
export interface OperationRequest<Body = unknown, Query = unknown, Params = unknown> {
  principal: Principal;
  body: Body;
  query: Query;
  params: Params;
  /** The related resources that the client asks for; a part of the operation's `includes`. */
  includes: readonly string[];
  /** The client's `Idempotency-Key` with a hash of the request, when an idempotent operation got it. */
  idempotency: IdempotentRequest | undefined;
  requestId: string;
  client: Client;
  url: URL;
  /** The permanent path of the operation: that of the request or, where it is deprecated, that of its successor. */
  address: string;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  /** Aborted when the process ends: an endless answer must end then. */
  closing: AbortSignal;
  /** The id of the last event of a stream that the client has, as it sent it. */
  lastEventId: string | null;
  /** The body of an operation that takes an upload, as it comes; null without one. */
  upload: ReadableStream<Uint8Array> | null;
  /** The content types that the client would like, as it sent them. */
  accept: string;
  waiters: Waits;
}

/** The answer of a handler; the status and the content type are those of the operation's `success`. */
export interface Reply {
  /** Sent as JSON; left out for an answer without a body. */
  document?: unknown;
  /** Sent as it comes, in place of a document. */
  stream?: ReadableStream<Uint8Array>;
  /** Takes over the connection of an operation whose status is 101. */
  socket?: SocketHandler;
  /** The content type of the stream; Server-Sent Events when left out. */
  streamType?: string;
  headers?: Record<string, string>;
}

/** A body that is no JSON and may be large: the handler reads it as it comes, and bounds it. */
export interface UploadBody {
  description: string;
  contentTypes: readonly string[];
}

/** The answer of an operation that succeeded. */
export interface Success {
  /** 101 for a WebSocket. */
  status: 101 | 200 | 201 | 204;
  description: string;
  /** Left out for an answer without a body. */
  schema?: z.ZodType;
  contentType?: "application/json" | "application/vnd.api+json";
  /** Describes the Server-Sent Events that the operation can answer instead. */
  stream?: string;
  /** Whether a client may continue the stream with `Last-Event-ID`. */
  isResumable?: true;
  /** Describes the table in `text/csv` that the operation can answer instead. */
  csv?: string;
  /** Whether the answer, which has no secret that its length could betray, is sent compressed. */
  isCompressed?: true;
  /** Headers of this answer alone, with a sentence about each. */
  headers?: Record<string, string>;
}

/** An operation of the API. The shell adds the errors that any operation of its shape can answer. */
export interface Operation<
  Body extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
> {
  method: Method;
  /** Below the API root, such as `/caches/:id`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  /**
   * The ability that the token or session needs, such as `caches:read`, or any of several; null admits every valid
   * token and session.
   */
  ability: Ability | readonly Ability[] | null;
  body?: Body;
  /** A body in place of `body`. Its `Idempotency-Key` stands for the address and the query alone. */
  upload?: UploadBody;
  /** Members take the strings of the URL; a missing parameter is undefined. */
  query?: Query;
  /** An id that does not match is answered like an id that does not exist. */
  params?: Params;
  /** The possible names in `?include=`; undefined when the operation does not know the parameter. */
  includes?: readonly string[];
  /** Whether the operation honours `Idempotency-Key`. */
  isIdempotent?: boolean;
  /**
   * Whether the operation answers 409 for a resource whose state does not allow it, such as a resource that is being
   * deleted.
   */
  canConflict?: boolean;
  /** Whether an operation without body and query answers 422. */
  canRefuse?: boolean;
  /**
   * Checks between fields. It gets the fields that are valid by themselves, so that all faults are reported at once.
   */
  check?(
    valid: Partial<z.output<Body>>,
    asked: { principal: Principal; params: z.output<Params> },
  ): FieldErrors | Promise<FieldErrors>;
  success: Success;
  deprecated?: Deprecation;
  /** Whether only the session of a signed-in user may; a sentence then says so in the document. */
  isForUsers?: true;
  isOpen?: undefined;
  handle(request: OperationRequest<z.output<Body>, z.output<Query>, z.output<Params>>): Promise<Reply>;
}

/** Declares an operation; the handler's types follow from the schemas. */
export function operation<
  Body extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
>(declaration: Operation<Body, Query, Params>): Operation {
  // Methods are compared loosely, so an operation with its own types fits into the list of all operations.
  return declaration;
}

/** The input of an operation that needs no authentication; the principal is there if the client has signed in anyway. */
export type OpenRequest<Body = unknown, Query = unknown, Params = unknown> = Omit<
  OperationRequest<Body, Query, Params>,
  "principal"
> & { principal: Principal | null };

/** An operation that clients may call without authentication, such as a sign-in. */
export interface OpenOperation<
  Body extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
> extends Omit<Operation<Body, Query, Params>, "ability" | "isOpen" | "isForUsers" | "check" | "handle"> {
  ability: null;
  isOpen: true;
  isForUsers?: undefined;
  check?: undefined;
  handle(request: OpenRequest<z.output<Body>, z.output<Query>, z.output<Params>>): Promise<Reply>;
}

export type AnyOperation = Operation | OpenOperation;

/** Declares an open operation; the handler's types follow from the schemas. */
export function openOperation<
  Body extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
>(declaration: OpenOperation<Body, Query, Params>): OpenOperation {
  return declaration;
}
