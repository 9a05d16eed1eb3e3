// Serves every client of this machine in the process of the gateway.
import type { Log } from "../lib/line-log.ts";
import { scheduleAsBatch } from "../lib/libc.ts";
import { PublishedCertificates } from "../contracts/certificates.ts";
import { Gateway } from "./clients/gateway.ts";
import { SocketPool } from "./sockets/socket-pool.ts";
import { RuntimeTimers, type Timers } from "./sockets/timers.ts";
import { TlsCertificates, type Certificates } from "./tls/certificates.ts";

export type { Certificates } from "./tls/certificates.ts";

/** The interval between two looks for renewed certificates. */
const LOOK_INTERVAL_MS = 1_000;

/** The settings of the gateway's process. */
export interface ServeSettings {
  /** The host's unix socket for gateways. */
  linkSocket: string;
  /** The host's unix socket through which it passes the sockets that listen for clients. */
  addressSocket: string;
  /** The certificates for TLS, in the PEM format. */
  certificates: Certificates;
  /** The file with the host's renewed certificates, and its signature from before `certificates` were read. */
  published: { path: string; known: string };
  /** Whether clients of other machines may connect without TLS. */
  isInsecureAllowed: boolean;
}

/**
 * Serves clients until the process ends. Where engines and clients keep all processors busy, the thread gives way to
 * them: it then finds the bytes of several sessions at a time, and a third more gets through.
 * @returns a promise that resolves when the host has sent all routes.
 * @throws Error when a certificate cannot be shown.
 */
export function serve(settings: ServeSettings, log: Log): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onFault = (error: unknown) => log.error({ error }, "something failed in the gateway");
  const pool = new SocketPool(new RuntimeTimers(onFault), onFault);
  const certificates = new TlsCertificates(settings.certificates);
  new Gateway(pool, { ...settings, certificates }, log, resolve).start();
  followCertificates(pool.timers, certificates, settings.published, log);
  scheduleAsBatch();
  return promise;
}

/** Loads renewed certificates; unusable renewed certificates change nothing. */
function followCertificates(
  timers: Timers,
  certificates: TlsCertificates,
  { path, known }: ServeSettings["published"],
  log: Log,
): void {
  const published = new PublishedCertificates(path, known);
  const look = () => {
    timers.after(LOOK_INTERVAL_MS, look);
    try {
      const [first, ...others] = published.changed() ?? [];
      if (first === undefined) return;
      certificates.replace({ ...first, others });
      log.info({ names: [first, ...others].map(({ names }) => names) }, "renewed certificates are shown");
    } catch (error) {
      log.error({ error }, "renewed certificates cannot be shown, and the former ones are kept");
    }
  };
  look();
}
