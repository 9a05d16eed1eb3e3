// `pilvi gateway`: the address of databases, and of caches that may sleep. A worker thread does the work, since its
// loop never yields; this thread handles signals and messages of `pilvi up`.
import { Worker } from "node:worker_threads";
import type { Config } from "../../config.ts";
import type { Certificates } from "../../gateway/tls/index.ts";
import type { WorkerMessage, WorkerSettings } from "../../gateway/main.ts";
import { GATEWAY_ACCOUNT } from "../../host/os/accounts.ts";
import { addressSocket, certificatesFile, gatewaySocket } from "../../host/os/layout.ts";
import { Refusal } from "../../lib/errors.ts";
import { forbidNewPrivileges } from "../../lib/libc.ts";
import { createLineLog, type Log } from "../../lib/line-log.ts";
import { raiseOpenFileLimit } from "../../lib/open-files.ts";
import { signatureOf } from "../../lib/files.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { readCertificate, readOthers } from "../tls/certificate.ts";
import { ensureGatewayCertificate, gatewayNames } from "../tls/certificate-authority.ts";
import { ensureDataDir, takeDataDirLock } from "../bootstrap/data-dir.ts";
import { findLibssl } from "../tls/libssl.ts";
import { reportReady, reportRefusal, stopRequested } from "../program/parent.ts";
import { becomeUser } from "../bootstrap/privileges.ts";
import { ensureProgram } from "../program/program.ts";

/** Each client takes two descriptors: its own connection, and the connection to its engine. */
const OPEN_FILES = 1_048_576;

/** @returns the exit code. The connections that the gateway carries end with it, and the engines run on. */
export async function gatewayCommand(config: Config): Promise<number> {
  protectFromOom();
  const log = createLineLog({ process: "gateway" }, config.logLevel);
  try {
    ensureDataDir(config.dataDir);
    await takeDataDirLock(config.dataDir, "gateway");
    const { gatewayWorker: script } = await ensureProgram(config.dataDir);
    const settings = await settingsOf(config, log);
    raiseOpenFileLimit(OPEN_FILES);
    becomeUser(GATEWAY_ACCOUNT);
    forbidNewPrivileges();
    const stopping = stopRequested();
    const { ready, ended } = startWorker(script, settings);
    const first = await Promise.race([ready, stopping, ended]);
    if (first !== "ready") return 0;
    log.info({}, "the gateway is ready");
    reportReady();
    const reason = await Promise.race([stopping, ended]);
    log.info({ reason }, "the gateway ends");
    return 0;
  } catch (error) {
    log.error({ error }, "the gateway ends because it failed");
    reportRefusal(error);
    return 1;
  }
}

/** Reads all that only the user who started Pilvi may read, before that user is given up. */
async function settingsOf(config: Config, log: Log): Promise<WorkerSettings> {
  const path = certificatesFile(config.dataDir, "gateway");
  const known = signatureOf(path);
  const library = findLibssl(config.enginesDir);
  if (library === null) {
    log.warn(
      {},
      "there is no OpenSSL 3 (libssl.so.3), so clients are served without TLS, and only on loopback",
    );
  }
  return {
    linkSocket: gatewaySocket(config.dataDir),
    addressSocket: addressSocket(config.dataDir),
    certificates: library === null ? null : await certificatesOf(config, log),
    published: { path, known },
    library,
    isInsecureAllowed: config.isInsecure,
    logLevel: config.logLevel,
  };
}

async function certificatesOf(config: Config, log: Log): Promise<Certificates> {
  const others = readOthers(config, (error) => log.error({ error }, "a certificate cannot be shown"));
  const configured = readCertificate(config);
  if (configured !== null) return { ...configured, others };
  const { dataDir } = config;
  const names = gatewayNames(config);
  const own = await ensureGatewayCertificate({ dataDir, names, now: new Date() }, log);
  return { names, ...own, others };
}

/**
 * @returns a promise that resolves when the worker serves, and a promise that rejects when it has ended for any reason.
 */
function startWorker(script: string, settings: WorkerSettings) {
  const ready = Promise.withResolvers<"ready">();
  const ended = Promise.withResolvers<never>();
  const worker = new Worker(script, { workerData: settings });
  worker.on("message", (message: WorkerMessage) => {
    if (message.type === "ready") ready.resolve("ready");
    else ended.reject(new Refusal(`The gateway cannot start: ${message.message}.`));
  });
  worker.on("error", (error) => ended.reject(error));
  worker.on("exit", (code) => ended.reject(new Error(`the gateway's worker ended with ${code}`)));
  return { ready: ready.promise, ended: ended.promise };
}
