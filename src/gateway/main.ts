// The gateway's worker thread: the loop that serves every client of this machine.
import { workerData } from "node:worker_threads";
import { messageOf } from "../lib/errors.ts";
import { createLineLog } from "../lib/line-log.ts";
import { Gateway } from "./edge/gateway.ts";
import { addressOf, libc, SCHED_BATCH } from "./reactor/libc.ts";
import { Reactor } from "./reactor/reactor.ts";
import { TlsContext } from "./tls/index.ts";

/** What the gateway's process tells its worker. */
export interface WorkerSettings {
  /** The host's unix socket for gateways. */
  linkSocket: string;
  /** The host's unix socket from which it hands over the sockets that clients come to. */
  addressSocket: string;
  /** What is shown to clients that begin TLS, in the PEM format; null where there is no TLS. */
  certificate: { cert: string; key: string } | null;
  /** The libssl to do that with. */
  library: string | null;
  /** Whether clients of other machines may speak in clear. */
  isInsecureAllowed: boolean;
  logLevel: string;
}

/** What the worker tells the process. */
export type WorkerMessage = { type: "ready" } | { type: "refused"; message: string };

declare const self: { postMessage(message: WorkerMessage): void };

function tellReady(): void {
  self.postMessage({ type: "ready" });
}

/**
 * Has this thread take its turn instead of another's when something arrives (sched(7)). Where engines and clients keep all
 * processors busy, it then finds several sessions' bytes at a time, and nobody is put off his work for one of them: a third more
 * gets through. Where a processor is idle, it makes no difference.
 */
function giveWay(): void {
  const priority = new Int32Array(1);
  libc.sched_setscheduler(0, SCHED_BATCH, addressOf(priority));
}

function main(settings: WorkerSettings): void {
  const log = createLineLog({ process: "gateway" }, settings.logLevel);
  const { certificate, library } = settings;
  const tls = certificate !== null && library !== null ? TlsContext.open({ ...certificate, library }) : null;
  const reactor = new Reactor({ onFault: (error) => log.error({ error }, "something failed in the loop") });
  const session = tls === null ? null : (fd: number, alpn: readonly string[]) => tls.session(fd, alpn);
  const { linkSocket, addressSocket, isInsecureAllowed } = settings;
  new Gateway(reactor, { linkSocket, addressSocket, isInsecureAllowed, session }, log, tellReady).start();
  giveWay();
  reactor.run();
}

try {
  main(workerData as WorkerSettings);
} catch (error) {
  self.postMessage({ type: "refused", message: messageOf(error) });
}
