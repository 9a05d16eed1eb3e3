// The operations on tokens of the organization.
import { z } from "zod";
import { recordAudit } from "../../api/auth/audit.ts";
import { holdRights } from "../../api/auth/auth.ts";
import { insertToken, newToken as newPlaintext } from "../../api/auth/tokens.ts";
import { ApiError, notFound } from "../../api/jsonapi/errors.ts";
import { JSON_API } from "../../api/jsonapi/jsonapi.ts";
import { operation, type AnyOperation, type OperationRequest } from "../../api/operation/operation.ts";
import { newId } from "../../lib/ids.ts";
import type { Database } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { idParams, shortListOperation, single } from "../shared/short-lists.ts";
import { checkAbilities, checkBounds, renderAbilities, scopeOf } from "./grant.ts";
import { abilityResource, newToken, tokenResource, type TokenResource } from "./schema.ts";
import { countTokens, limitsOf, listTokenRows, revokeRow, type TokenRow } from "./store.ts";

const TAG = "Tokens";
const KIND = "tokens";
const MAX_TOKENS = 1_000;

/** The operations. @param kinds the plural nouns of all resource kinds. */
export function tokenOperations({ db }: KindContext, kinds: readonly string[]): AnyOperation[] {
  return [listOperation(db), createOperation(db, kinds), revokeOperation(db), abilitiesOperation(kinds)];
}

function listOperation(db: Database): AnyOperation {
  return shortListOperation({
    path: "/tokens",
    operationId: "listTokens",
    tag: TAG,
    summary: "List tokens",
    description:
      "The tokens that are not revoked, the newest first, without their text. A developer sees those of their own.",
    ability: "tokens:read",
    noun: "tokens",
    resource: tokenResource,
    rowsOf: (principal) => listTokenRows(db, scopeOf(principal)),
    render,
  });
}

function createOperation(db: Database, kinds: readonly string[]): AnyOperation {
  return operation({
    method: "POST",
    path: "/tokens",
    operationId: "createToken",
    tag: TAG,
    summary: "Create a token",
    description:
      "Makes a token that is no more able than its maker, and does not outlive it. The answer shows its text, which is never shown again.",
    ability: "tokens:write",
    canConflict: true,
    body: newToken,
    success: single(tokenResource, "The token with its text.", 201),
    handle: (request) => create(db, kinds, request),
  });
}

async function create(
  db: Database,
  kinds: readonly string[],
  { principal, body, requestId }: OperationRequest<z.output<typeof newToken>>,
) {
  const { name, expires_at: expires, limits } = body;
  const abilities = [...new Set(body.abilities)];
  const expiresAt = expires === undefined ? undefined : new Date(expires);
  checkAbilities(principal, abilities, kinds);
  await checkBounds(db, principal, expiresAt);
  const { organizationId } = principal;
  const id = newId("token");
  const token = newPlaintext();
  return await db.begin(async (tx) => {
    const tokens = await countTokens(tx, organizationId);
    const userId = await holdRights(tx, principal);
    if (tokens >= MAX_TOKENS) {
      throw new ApiError(409, `The organization has ${MAX_TOKENS} tokens already. Revoke some first.`);
    }
    await insertToken(tx, {
      id,
      organizationId,
      name,
      token,
      abilities,
      limits: limitsOf(limits),
      ...(expiresAt !== undefined && { expiresAt }),
      userId,
      ...(principal.kind === "token" && { makerId: principal.tokenId }),
    });
    const details = { name, abilities, expires_at: expires ?? null };
    await recordAudit(tx, { principal, requestId, action: "create", kind: KIND, id, details });
    const [row] = await listTokenRows(tx, { organizationId, userId: null }, id);
    if (row === undefined) throw new Error("a new token is not there");
    return { document: { data: withText(render(row), token) } };
  });
}

function revokeOperation(db: Database): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/tokens/:id",
    operationId: "deleteToken",
    tag: TAG,
    summary: "Revoke a token",
    description:
      "Revokes a token at once, with the streams that it follows and the tokens that it made. A developer may revoke those of their own.",
    ability: "tokens:write",
    params: idParams("token", "token-1"),
    success: { status: 204, description: "The token is revoked." },
    async handle({ principal, params: { id }, requestId }) {
      await db.begin(async (tx) => {
        if (!(await revokeRow(tx, scopeOf(principal), id))) throw notFound("token");
        await recordAudit(tx, { principal, requestId, action: "revoke", kind: KIND, id, details: {} });
      });
      return {};
    },
  });
}

function abilitiesOperation(kinds: readonly string[]): AnyOperation {
  return operation({
    method: "GET",
    path: "/tokens/abilities",
    operationId: "listAbilities",
    tag: TAG,
    summary: "List abilities",
    description: "All abilities that there are, and whether the client may give each to a token.",
    ability: "tokens:read",
    success: {
      status: 200,
      description: "All abilities.",
      schema: z.object({ data: z.array(abilityResource) }),
      contentType: JSON_API,
    },
    async handle({ principal }) {
      return { document: { data: renderAbilities(principal, kinds) } };
    },
  });
}

function render(row: TokenRow): TokenResource {
  return {
    id: row.id,
    type: "tokens",
    attributes: {
      name: row.name,
      abilities: row.abilities,
      created_by: row.createdBy,
      created_at: row.createdAt,
      expires_at: row.expiresAt,
      last_used_at: row.lastUsedAt,
      limits: {
        resources: row.maxResources,
        memory_bytes: row.maxMemoryBytes,
        storage_bytes: row.maxStorageBytes,
        connections: row.maxConnections,
      },
    },
  };
}

function withText(resource: TokenResource, token: string): TokenResource {
  return { ...resource, attributes: { ...resource.attributes, token } };
}
