// Accounts: users, their sign-in and their sessions.
export { createRecoveryLink, createSetUpLink } from "./links.ts";
export { accountOperations } from "./routes.ts";
export { SignIn } from "./sign-in.ts";
