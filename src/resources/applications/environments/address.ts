// The name of an environment at the edge, and its URL.
import type { EdgeSettings } from "../../../lib/edge-settings.ts";
import type { EnvironmentRow } from "./store.ts";

type Named = Pick<EnvironmentRow, "vanityName">;

/** Such as `web-shop-production-8k2fqz.localhost`. */
export function domainOf({ vanityName }: Named, { domain }: Pick<EdgeSettings, "domain">): string {
  return `${vanityName}.${domain}`;
}

/** With HTTPS where the edge has it, and with the port unless the scheme implies it. */
export function urlOf(environment: Named, edge: EdgeSettings): string {
  const domain = domainOf(environment, edge);
  const { httpPort, httpsPort } = edge;
  if (httpsPort !== null) return httpsPort === 443 ? `https://${domain}` : `https://${domain}:${httpsPort}`;
  return httpPort === 80 ? `http://${domain}` : `http://${domain}:${httpPort}`;
}
