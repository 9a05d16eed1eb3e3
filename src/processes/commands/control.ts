// `pilvi control`: the API, and the loop that reconciles its resources.
import { createApp, type App } from "../../api/app.ts";
import { ensureToken } from "../../api/auth/tokens.ts";
import { isLoopback, type Config } from "../../config.ts";
import type { Driver } from "../../drivers/driver.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { CONTROL_ACCOUNT } from "../../host/os/accounts.ts";
import { certificatesFile, hostSocket } from "../../host/os/layout.ts";
import type { NamedCertificate } from "../../contracts/certificates.ts";
import { PublishedCertificates } from "../../contracts/certificates.ts";
import { signatureOf } from "../../lib/files.ts";
import { forbidNewPrivileges } from "../../lib/libc.ts";
import { createLog, type Log } from "../../lib/log.ts";
import type { Vault } from "../../lib/secrets.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { Loop } from "../../reconciler/loop.ts";
import { allOperations, allReconcilers, kinds, recordUnknownAllocations } from "../../resources/index.ts";
import { keepActivityFor } from "../../resources/activity/index.ts";
import type { KindContext } from "../../resources/kind.ts";
import { followJournal } from "../../resources/shared/events/intake.ts";
import { keepEventsFor } from "../../resources/shared/events/retention.ts";
import { ACTIONS } from "../../resources/shared/actions/store.ts";
import { hostDirectory, servedHost } from "../../resources/shared/hosts.ts";
import { instanceGauges } from "../../resources/shared/metrics/gauges.ts";
import { followReadings } from "../../resources/shared/metrics/intake.ts";
import { WatchedStates } from "../../resources/shared/observed-states.ts";
import { sleepGauges } from "../../resources/shared/sleep-gauges.ts";
import { followStorage } from "../../resources/shared/storage.ts";
import { keepUsage } from "../../resources/shared/usage/keep.ts";
import { openDatabase } from "../../store/database.ts";
import { migrate } from "../../store/migrate.ts";
import { migrations } from "../../store/migrations.ts";
import { ApiServer, prepareApiServer } from "../bootstrap/api-server.ts";
import { ensureDataDir } from "../bootstrap/data-dir.ts";
import { consoleFolder, publishConsole } from "../console/publish.ts";
import { readCertificate, readOthers } from "../tls/certificate.ts";
import { firstToken, hostId, openVault } from "../bootstrap/identity.ts";
import { watchInstances } from "../bootstrap/instance-watch.ts";
import { reportReady, reportRefusal, stopRequested } from "../program/parent.ts";
import { ensureKeyFits, ensureHostRow } from "../bootstrap/registration.ts";
import { ensureStore, openStore, storeAddress } from "../bootstrap/store-instance.ts";
import { becomeUser } from "../bootstrap/privileges.ts";

/** Time for requests under way when the process is asked to end. */
const DRAIN_MS = 1_000;

/** How often the process looks for renewed certificates. */
const CERTIFICATE_INTERVAL_MS = 1_000;

const HOST_TIMEOUT_MS = 5_000;
const HOST_RETRY_MS = 20;

/**
 * Secrets that only the user who started Pilvi may read or make; all of them are in memory before that user is given
 * up.
 */
interface StartupSecrets {
  vault: Vault;
  /** Shown by the API, the first by default; an empty list means HTTP. */
  certificates: NamedCertificate[];
  /** The signature of the certificates that the host had published before these were read. */
  published: string;
  token: string;
  hostId: string;
}

/** @returns the exit code, when the process was asked to end. */
export async function controlCommand(config: Config): Promise<number> {
  protectFromOom();
  const log = createLog("control", config.logLevel);
  try {
    ensureDataDir(config.dataDir);
    const startupSecrets = {
      vault: await openVault(config),
      published: signatureOf(certificatesFile(config.dataDir, "control")),
      certificates: readCertificates(config, log),
      token: await firstToken(config),
      hostId: hostId(config),
    };
    const publication = publishConsole(config.dataDir, (reason) =>
      log.error({ reason }, "there is no console"),
    );
    prepareApiServer();
    // Bytes of clients are parsed from here on, by a user who owns nothing.
    becomeUser(CONTROL_ACCOUNT);
    forbidNewPrivileges();
    const stopping = stopRequested();
    // A start may be left half done at any point: the next start goes on from there.
    const stop = await Promise.race([
      startControl(config, startupSecrets, log),
      stopping.then(() => undefined),
    ]);
    if (stop === undefined) return 0;
    log.info({ port: config.port }, "the control plane is ready");
    reportReady();
    const reason = await stopping;
    log.info({ reason }, "the control plane ends");
    await Promise.all([publication.stop(), stop()]);
    return 0;
  } catch (error) {
    log.error({ error }, "the control plane cannot start");
    reportRefusal(error);
    return 1;
  }
}

async function startControl(
  config: Config,
  startupSecrets: StartupSecrets,
  log: Log,
): Promise<() => Promise<void>> {
  const { vault } = startupSecrets;
  const driver = localDriver(hostSocket(config.dataDir), { log });
  await hostAnswers(driver);
  await ensureStore(config, vault, driver);
  const address = storeAddress(config, vault);
  const db = await openStore(address);
  await migrate(db, migrations);
  await ensureKeyFits(db, vault, config.keyFile);
  await ensureHostRow(db, startupSecrets.hostId);
  await recordUnknownAllocations(db);
  await ensureToken(db, { plaintext: startupSecrets.token, name: "first" });
  if (config.bootstrapToken !== undefined) {
    await ensureToken(db, { plaintext: config.bootstrapToken, name: "bootstrap" });
  }
  const host = servedHost(
    {
      id: startupSecrets.hostId,
      driver,
      hostnames: { loopback: "127.0.0.1", public: config.publicHost },
      isTls: config.tls !== undefined,
      portRange: config.portRange,
    },
    new WatchedStates(),
  );
  const hosts = hostDirectory([host]);
  const context: KindContext = { db, vault, hosts, quotas: config.quotas };
  const app = await createControlApp(config, context, log);
  const openSession = (onClose: () => void) => openDatabase(address, { maxConnections: 1, onClose });
  const reconcilers = allReconcilers(context);
  const hostIds = hosts.all.map(({ id }) => id);
  const loop = new Loop({ db, openSession, hostIds, reconcilers, slowKinds: [ACTIONS], log });
  await loop.start();
  const watching = new AbortController();
  const watched = watchInstances({ db, host }, watching.signal, log);
  void followStorage({ db, driver }, watching.signal, log);
  void followReadings({ db, host }, watching.signal, log);
  void followJournal({ db, host }, watching.signal, log);
  const stopPruning = keepEventsFor(config.eventsDays, db, log);
  const stopForgetting = keepActivityFor(config.auditDays, db, log);
  const stopCounting = keepUsage(db, hosts, log);
  // The first answer of the API already knows which instances sleep.
  await Promise.race([watched, Bun.sleep(HOST_TIMEOUT_MS)]);
  const server = new ApiServer(config, startupSecrets.certificates, app);
  const unfollow = followCertificates(config, startupSecrets, server, log);
  return async () => {
    watching.abort();
    stopPruning();
    stopForgetting();
    stopCounting();
    unfollow();
    await Promise.all([app.close(), Promise.race([server.stop(), Bun.sleep(DRAIN_MS)])]);
    await server.stop(true);
    await loop.stop();
    await db.close();
  };
}

function readCertificates(config: Config, log: Log): NamedCertificate[] {
  const first = readCertificate(config);
  if (first === null) return [];
  const others = readOthers(config, (error) => log.error({ error }, "a certificate cannot be shown"));
  return [first, ...others];
}

/**
 * Shows certificates that the host has published anew; a broken file of them changes nothing.
 * @returns a function that ends it.
 */
function followCertificates(
  { dataDir }: Config,
  { certificates, published }: StartupSecrets,
  server: ApiServer,
  log: Log,
): () => void {
  if (certificates.length === 0) return () => undefined;
  const file = new PublishedCertificates(certificatesFile(dataDir, "control"), published);
  const timer = setInterval(() => {
    try {
      const renewed = file.changed();
      if (renewed === null) return;
      server.replaceCertificates(renewed);
      log.info({ names: renewed.map(({ names }) => names) }, "renewed certificates are shown");
    } catch (error) {
      log.error({ error }, "renewed certificates cannot be shown, and the former ones are kept");
    }
  }, CERTIFICATE_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** When both were killed, the host may be back a moment after this process; waiting saves a failed start. */
async function hostAnswers(driver: Driver): Promise<void> {
  const giveUpAt = Date.now() + HOST_TIMEOUT_MS;
  const isThere = () =>
    driver.offer().then(
      () => true,
      () => false,
    );
  while (!(await isThere()) && Date.now() < giveUpAt) await Bun.sleep(HOST_RETRY_MS);
}

async function createControlApp(config: Config, context: KindContext, log: Log): Promise<App> {
  const app = await createApp({
    db: context.db,
    log,
    operations: allOperations(context),
    kinds: kinds.map(({ name }) => name),
    hostnames: [config.host, config.publicHost],
    isPublic: !isLoopback(config.host),
    consoleDir: consoleFolder(config.dataDir),
    rateLimitPerMinute: config.rateLimitPerMinute,
    readiness: { host: async () => void (await context.hosts.forNew().driver.offer()) },
  });
  app.metrics.addFigures(sleepGauges, context);
  app.metrics.addFigures(instanceGauges, context);
  for (const { figures } of kinds) if (figures !== undefined) app.metrics.addFigures(figures, context);
  return app;
}
