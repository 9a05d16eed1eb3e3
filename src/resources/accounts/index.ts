// Accounts: users, their sign-in, sessions and passkeys.
export { createRecoveryLink, createSetUpLink } from "./links.ts";
export { sessionUserOf } from "./principal.ts";
export { accountOperations } from "./routes.ts";
export { answerSignedIn, holdPassword, SIGNED_IN, SignIn } from "./sign-in.ts";
export { findLogin, getUser, insertMember, insertUser, organizationsOf } from "./store.ts";
export { emailField, givenPasswordField, passwordField, personField, role, secretField } from "./schema.ts";
