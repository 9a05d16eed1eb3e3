// The gateway's worker thread: the loop that serves every client of this machine.
import { workerData } from "node:worker_threads";
import { messageOf } from "../lib/errors.ts";
import { createLineLog, type Log } from "../lib/line-log.ts";
import { PublishedCertificates } from "../contracts/certificates.ts";
import { Gateway } from "./edge/gateway.ts";
import { addressOf, libc, SCHED_BATCH } from "./reactor/libc.ts";
import { Reactor } from "./reactor/reactor.ts";
import { type Certificates, TlsContext } from "./tls/index.ts";

/** The interval between two looks for renewed certificates. */
const LOOK_INTERVAL_MS = 1_000;

/** The settings that the gateway's process passes to its worker. */
export interface WorkerSettings {
  /** The host's unix socket for gateways. */
  linkSocket: string;
  /** The host's unix socket through which it passes the sockets that listen for clients. */
  addressSocket: string;
  /** The certificates for TLS, in the PEM format; null without TLS. */
  certificates: Certificates | null;
  /** The file with the host's renewed certificates, and its signature from before `certificates` were read. */
  published: { path: string; known: string };
  /** The path of the libssl; null without TLS. */
  library: string | null;
  /** Whether clients of other machines may connect without TLS. */
  isInsecureAllowed: boolean;
  logLevel: string;
}

/** The worker's message to the process about its start. */
export type WorkerMessage = { type: "ready" } | { type: "refused"; message: string };

declare const self: { postMessage(message: WorkerMessage): void };

function reportReady(): void {
  self.postMessage({ type: "ready" });
}

/**
 * Lets this thread wait for its turn instead of preempting another when bytes arrive (SCHED_BATCH, sched(7)). Where
 * engines and clients keep all processors busy, the loop then finds the bytes of several sessions at a time, and a
 * third more gets through. Where a processor is idle, it makes no difference.
 */
function giveWay(): void {
  const priority = new Int32Array(1);
  libc.sched_setscheduler(0, SCHED_BATCH, addressOf(priority));
}

/** Loads renewed certificates; unusable renewed certificates change nothing. */
function followCertificates(
  reactor: Reactor,
  tls: TlsContext,
  { path, known }: WorkerSettings["published"],
  log: Log,
): void {
  const published = new PublishedCertificates(path, known);
  const look = () => {
    reactor.timers.after(LOOK_INTERVAL_MS, look);
    try {
      const [first, ...others] = published.changed() ?? [];
      if (first === undefined) return;
      tls.replace({ ...first, others });
      log.info({ names: [first, ...others].map(({ names }) => names) }, "renewed certificates are shown");
    } catch (error) {
      log.error({ error }, "renewed certificates cannot be shown, and the former ones are kept");
    }
  };
  look();
}

function main(settings: WorkerSettings): void {
  const log = createLineLog({ process: "gateway" }, settings.logLevel);
  const { certificates, library } = settings;
  const tls =
    certificates !== null && library !== null ? TlsContext.open({ ...certificates, library }) : null;
  const reactor = new Reactor({ onFault: (error) => log.error({ error }, "something failed in the loop") });
  const session = tls === null ? null : (fd: number, alpn: readonly string[]) => tls.session(fd, alpn);
  const { linkSocket, addressSocket, isInsecureAllowed } = settings;
  new Gateway(reactor, { linkSocket, addressSocket, isInsecureAllowed, session }, log, reportReady).start();
  if (tls !== null) followCertificates(reactor, tls, settings.published, log);
  giveWay();
  reactor.run();
}

try {
  main(workerData as WorkerSettings);
} catch (error) {
  self.postMessage({ type: "refused", message: messageOf(error) });
}
