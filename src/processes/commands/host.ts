// `pilvi host`: runs the engines of this machine for the control plane, which asks for them over a unix socket.
import type { Config } from "../../config.ts";
import { HostSandbox } from "../../host/engine/host-sandbox.ts";
import { findCgroups } from "../../host/os/cgroup-backends.ts";
import { Host } from "../../host/host.ts";
import { KeeperLink } from "../../host/os/keeper-link.ts";
import { certificatesFile, etcDir, hostSocket } from "../../host/os/layout.ts";
import { serveHost } from "../../host/server.ts";
import { forbidNewPrivileges } from "../../lib/libc.ts";
import { createLog, type Log } from "../../lib/log.ts";
import { OPEN_FILES, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { CONTROL_ACCOUNT, GATEWAY_ACCOUNT } from "../../host/os/accounts.ts";
import { publishCertificates } from "../../contracts/certificates.ts";
import { readCertificate } from "../tls/certificate.ts";
import { CertificateWatch } from "../tls/certificate-watch.ts";
import { ensureDataDir, takeDataDirLock } from "../bootstrap/data-dir.ts";
import { ensureProgram } from "../program/program.ts";
import { applicationEngine, realtimeEngine } from "../program/own-engines.ts";
import { KEEPER_VARIABLE, reportKept, reportReady, reportRefusal, stopRequested } from "../program/parent.ts";

/**
 * @returns the exit code. SIGTERM and SIGINT leave the engines running, so that an upgrade of Pilvi stops no engine.
 */
export async function hostCommand(config: Config): Promise<number> {
  protectFromOom();
  const log = createLog("host", config.logLevel);
  try {
    ensureDataDir(config.dataDir);
    await takeDataDirLock(config.dataDir, "host");
    forbidNewPrivileges();
    raiseOpenFileLimit(OPEN_FILES);
    readCertificate(config);
    const certificates = watchCertificates(config, log);
    const program = await ensureProgram(config.dataDir);
    const settings = {
      dataDir: config.dataDir,
      enginesDir: config.enginesDir,
      ownEngines: [realtimeEngine(program), applicationEngine(program)],
      bind: config.bind,
      get certificate() {
        return certificates.configured;
      },
      get edgeCertificate() {
        return certificates.shown;
      },
      warmSlots: config.warmSlots,
      cgroups: findCgroups(config.dataDir),
      sandbox: new HostSandbox(config.enginesDir, etcDir(config.dataDir)),
      logs: config.environmentLogs,
      portRange: config.portRange,
      allowPrivateWebhooks: config.allowPrivateWebhooks,
    };
    const stopping = stopRequested();
    const host = new Host(settings, log, linkToKeeper());
    await host.start();
    const stopServing = serveHost(host, hostSocket(config.dataDir), log);
    log.info("the host is ready");
    reportReady();
    const reason = await stopping;
    log.info({ reason }, "the host ends");
    certificates.stop();
    await stopServing();
    if (reason === "stop") await host.close();
    else host.release();
    return 0;
  } catch (error) {
    reportRefusal(error);
    return 1;
  }
}

/** Null when no process keeps addresses for this host, as under a service manager. */
function linkToKeeper(): KeeperLink | null {
  const fd = process.env[KEEPER_VARIABLE];
  return fd === undefined ? null : new KeeperLink(Number(fd), reportKept);
}

/**
 * Publishes renewed certificates for the gateway and the API; without users of their own they run as this process's
 * user.
 */
function watchCertificates(config: Config, log: Log): CertificateWatch {
  const isRoot = process.getuid?.() === 0;
  const readers = { gateway: GATEWAY_ACCOUNT.gid, control: CONTROL_ACCOUNT.gid };
  const watch = new CertificateWatch(config, log, (certificates) => {
    for (const reader of ["gateway", "control"] as const) {
      publishCertificates(
        certificatesFile(config.dataDir, reader),
        certificates,
        isRoot ? readers[reader] : undefined,
      );
    }
  });
  watch.start();
  return watch;
}
