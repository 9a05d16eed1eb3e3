// `pilvi gateway`: the address of databases, and of caches that may sleep.
import type { Config } from "../../config.ts";
import { serve, type Certificates, type ServeSettings } from "../../gateway/main.ts";
import { GATEWAY_ACCOUNT } from "../../host/os/accounts.ts";
import { addressSocket, certificatesFile, gatewaySocket } from "../../host/os/layout.ts";
import { messageOf, Refusal } from "../../lib/errors.ts";
import { forbidNewPrivileges } from "../../lib/libc.ts";
import { createLineLog, type Log } from "../../lib/line-log.ts";
import { raiseOpenFileLimit } from "../../lib/open-files.ts";
import { signatureOf } from "../../lib/files.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { readCertificate, readOthers } from "../tls/certificate.ts";
import { ensureGatewayCertificate, gatewayNames } from "../tls/certificate-authority.ts";
import { ensureDataDir, takeDataDirLock } from "../bootstrap/data-dir.ts";
import { reportReady, reportRefusal, stopRequested } from "../program/parent.ts";
import { becomeUser } from "../bootstrap/privileges.ts";

/** Each client takes two descriptors: its own connection, and the connection to its engine. */
const OPEN_FILES = 1_048_576;

/** @returns the exit code. The connections that the gateway carries end with it, and the engines run on. */
export async function gatewayCommand(config: Config): Promise<number> {
  protectFromOom();
  const log = createLineLog({ process: "gateway" }, config.logLevel);
  try {
    ensureDataDir(config.dataDir);
    await takeDataDirLock(config.dataDir, "gateway");
    const settings = await settingsOf(config, log);
    raiseOpenFileLimit(OPEN_FILES);
    becomeUser(GATEWAY_ACCOUNT);
    forbidNewPrivileges();
    const stopping = stopRequested();
    const ready = serving(settings, log).then(() => "ready" as const);
    if ((await Promise.race([ready, stopping])) !== "ready") return 0;
    log.info({}, "the gateway is ready");
    reportReady();
    const reason = await stopping;
    log.info({ reason }, "the gateway ends");
    return 0;
  } catch (error) {
    log.error({ error }, "the gateway ends because it failed");
    reportRefusal(error);
    return 1;
  }
}

/** Reads all that only the user who started Pilvi may read, before that user is given up. */
async function settingsOf(config: Config, log: Log): Promise<ServeSettings> {
  const path = certificatesFile(config.dataDir, "gateway");
  const known = signatureOf(path);
  return {
    linkSocket: gatewaySocket(config.dataDir),
    addressSocket: addressSocket(config.dataDir),
    certificates: await certificatesOf(config, log),
    published: { path, known },
    isInsecureAllowed: config.isInsecure,
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

/** @throws Refusal when a certificate cannot be shown. */
async function serving(settings: ServeSettings, log: Log): Promise<void> {
  try {
    await serve(settings, log);
  } catch (error) {
    throw new Refusal(`The gateway cannot start: ${messageOf(error)}.`, error);
  }
}
