// The one client of the console, which asks with the cookie of the page's session.
import { PilviClient } from "../../sdk/index.ts";

export const client = new PilviClient({ url: location.origin });
