// What other rooms use of the activity of organizations.
export { keepActivityFor } from "./retention.ts";
export { activityOperation } from "./routes.ts";
