// Operations on resources that are few and belong to no kind, such as members: lists that are read whole, and answers.
import { z } from "zod";
import type { Ability, Principal } from "../../api/auth/auth.ts";
import { JSON_API, listDocument, singleDocument } from "../../api/jsonapi/jsonapi.ts";
import { pageDocument, pageOf, pageQuery } from "../../api/jsonapi/pagination.ts";
import { operation, type Operation, type Success } from "../../api/operation/operation.ts";

/** A list that is bounded and so short that it is read whole. */
interface ShortList<Row> extends Pick<Operation, "path" | "operationId" | "tag" | "summary" | "description"> {
  /** Null for a list of the signed-in user's own. */
  ability: Ability | null;
  /** The plural of its resources. */
  noun: string;
  resource: z.ZodType;
  rowsOf(principal: Principal): Promise<readonly Row[]>;
  render(row: Row, principal: Principal): unknown;
}

/** The operation that answers a page of a short list. A list without an ability is for signed-in users alone. */
export function shortListOperation<Row>(list: ShortList<Row>): Operation {
  const { noun, resource, rowsOf, render, ability, ...rest } = list;
  return operation({
    ...rest,
    method: "GET",
    ability,
    ...(ability === null && { isForUsers: true }),
    query: z.object(pageQuery),
    success: {
      status: 200,
      description: `A page of ${noun}.`,
      schema: listDocument(resource),
      contentType: JSON_API,
    },
    async handle({ principal, url, query }) {
      const page = pageOf(query);
      const rows = await rowsOf(principal);
      const first = (page.number - 1) * page.size;
      const shown = rows.slice(first, first + page.size).map((row) => render(row, principal));
      return { document: pageDocument(url, page, rows.length, shown) };
    },
  });
}

/** The success of an operation that answers with one resource. */
export function single(resource: z.ZodType, description: string, status: 200 | 201 = 200): Success {
  return { status, description, schema: singleDocument(resource), contentType: JSON_API };
}

/** The path parameter of an operation on a single resource. @param noun its singular, such as `member`. */
export function idParams(noun: string, example: string) {
  return z.object({
    id: z
      .string()
      .max(64)
      .meta({ description: `The id of the ${noun}.`, example }),
  });
}
