// Tokens of the organization, made and revoked through the API.
export { tokenOperations } from "./routes.ts";
export { boundsOf, revokeTokensBeyond } from "./store.ts";
