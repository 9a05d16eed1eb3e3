// Members of organizations, with their roles, and the invitations that make them.
export { memberOperations } from "./routes.ts";
