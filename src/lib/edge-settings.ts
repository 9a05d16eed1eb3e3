// The edge, as a Pilvi is set up.

export interface EdgeSettings {
  /** Names of environments are below this domain. */
  domain: string;
  httpPort: number;
  /** Null without HTTPS. */
  httpsPort: number | null;
}

/** What the environment says of it; undefined is left to the defaults. */
interface GivenSettings {
  domain: string;
  ports: [http: number | undefined, https: number | undefined];
  hasCertificate: boolean;
}

/** Programs of ordinary users may not listen at the ports that browsers expect. */
const PORTS = process.getuid?.() === 0 ? { http: 80, https: 443 } : { http: 8_080, https: 8_443 };

/** The settings with their defaults. */
export function edgeSettings({
  domain,
  ports: [httpPort, httpsPort],
  hasCertificate,
}: GivenSettings): EdgeSettings {
  return {
    domain: domain.toLowerCase(),
    httpPort: httpPort ?? PORTS.http,
    httpsPort: httpsPort ?? (hasCertificate ? PORTS.https : null),
  };
}
