// The user behind a request of an operation for users.
import type { Principal, SessionPrincipal } from "../../api/auth/auth.ts";
import { forbidden } from "../../api/jsonapi/errors.ts";

/** @throws ApiError 403 for a token. */
export function sessionUserOf(principal: Principal): SessionPrincipal {
  if (principal.kind === "session") return principal;
  throw forbidden("Only a signed-in user may do this; a token may not.");
}
