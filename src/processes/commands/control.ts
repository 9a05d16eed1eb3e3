// `pilvi control`: the API, and the loop that reconciles its resources.
import { createApp, type App } from "../../api/app.ts";
import { ensureToken } from "../../api/auth/tokens.ts";
import type { Config } from "../../config.ts";
import { isLoopback } from "../../lib/api-address.ts";
import type { Driver } from "../../drivers/driver.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { CONTROL_ACCOUNT } from "../../host/os/accounts.ts";
import { certificatesFile, hostSocket } from "../../host/os/layout.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { type NamedCertificate, PublishedCertificates } from "../../contracts/certificates.ts";
import { signatureOf } from "../../lib/files.ts";
import { forbidNewPrivileges } from "../../lib/libc.ts";
import { createLog, type Log } from "../../lib/log.ts";
import type { Vault } from "../../lib/secrets.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { Loop } from "../../reconciler/loop.ts";
import {
  allOperations,
  allProtocols,
  allReconcilers,
  kindContext,
  kinds,
  recordUnknownAllocations,
  slowKinds,
} from "../../resources/index.ts";
import { deployAllLeftPushes, followEdgeSettings } from "../../resources/applications/index.ts";
import { keepActivityFor } from "../../resources/activity/index.ts";
import type { KindContext } from "../../resources/kind.ts";
import { followJournal } from "../../resources/shared/events/intake.ts";
import { keepEventsFor } from "../../resources/shared/events/retention.ts";
import { backupGauges } from "../../resources/shared/backups/backup-gauges.ts";
import { followArchives } from "../../resources/shared/backups/archive-states.ts";
import { reconcileVerifications } from "../../resources/shared/backups/verification-reconciler.ts";
import { enqueueVerifications, VERIFICATIONS } from "../../resources/shared/backups/verifications.ts";
import { hostDirectory, servedHost } from "../../resources/shared/hosts.ts";
import { instanceGauges } from "../../resources/shared/metrics/gauges.ts";
import { followReadings } from "../../resources/shared/metrics/intake.ts";
import { WatchedStates } from "../../resources/shared/observed-states.ts";
import { sleepGauges } from "../../resources/shared/sleep-gauges.ts";
import { followStorage } from "../../resources/shared/storage.ts";
import { keepUsage } from "../../resources/shared/usage/keep.ts";
import { Repositories } from "../../sources/repositories.ts";
import { openDatabase, type Database } from "../../store/database.ts";
import { migrate } from "../../store/migrate.ts";
import { migrations } from "../../store/migrations.ts";
import { ApiServer, prepareApiServer } from "../bootstrap/api-server.ts";
import { ensureDataDir } from "../bootstrap/data-dir.ts";
import { ensureRepositoriesDir, repositoriesDir } from "../bootstrap/repositories-dir.ts";
import { consoleFolder, publishConsole } from "../console/publish.ts";
import { readCertificate, readOthers } from "../tls/certificate.ts";
import { firstToken, hostId, openVault } from "../bootstrap/identity.ts";
import { watchInstances } from "../bootstrap/instance-watch.ts";
import { reportReady, reportRefusal, stopRequested } from "../program/parent.ts";
import { ensureKeyFits, ensureHostRow } from "../bootstrap/registration.ts";
import { keepMachineFiles, readMachineFiles, type MachineFiles } from "../bootstrap/machine-files.ts";
import { backUpStore } from "../bootstrap/store-backups.ts";
import { verifyStore, type StoreVerifierParts } from "../bootstrap/store-verifier.ts";
import { ensureStore, openStore, storeAddress } from "../bootstrap/store-instance.ts";
import { becomeUser } from "../bootstrap/privileges.ts";

/** Time for requests under way when the process is asked to end. */
const DRAIN_MS = 1_000;

/** How often the process looks for renewed certificates. */
const CERTIFICATE_INTERVAL_MS = 1_000;

const [HOST_TIMEOUT_MS, HOST_RETRY_MS] = [5_000, 20];

/** Secrets that only the starting user can read. They are read before the process gives up that user. */
interface StartupSecrets {
  vault: Vault;
  /** Shown by the API, the first by default; an empty list means HTTP. */
  certificates: NamedCertificate[];
  /** The signature of the certificates that the host had published before these were read. */
  published: string;
  token: string;
  hostId: string | null;
  /** What a new machine needs of the data directory. */
  files: MachineFiles;
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
      hostId: await hostId(config),
      files: readMachineFiles(config.dataDir),
    };
    ensureRepositoriesDir(config.dataDir);
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
  const onDeadlock = (error: unknown) => log.warn({ error }, "a transaction was run again after a deadlock");
  const db = await openStore(address, { onDeadlock });
  await migrate(db, migrations);
  await ensureKeyFits(db, vault, config.keyFile);
  const id = await ensureHostRow(db, startupSecrets.hostId);
  await followEdgeSettings(db, id, config.edge);
  await keepMachineFiles(db, vault, id, startupSecrets.files);
  await recordUnknownAllocations(db);
  await ensureToken(db, { plaintext: startupSecrets.token, name: "first" });
  if (config.bootstrapToken !== undefined) {
    await ensureToken(db, { plaintext: config.bootstrapToken, name: "bootstrap" });
  }
  const host = servedHost(
    {
      id,
      driver,
      hostnames: { loopback: "127.0.0.1", public: config.publicHost },
      isTls: config.tls !== undefined,
      portRange: config.portRange,
    },
    new WatchedStates(),
  );
  const hosts = hostDirectory([host]);
  const context = contextOf(config, { db, vault, hosts, log });
  const app = await createControlApp(config, context, log);
  const openSession = (onClose: () => void) => openDatabase(address, { maxConnections: 1, onClose });
  const loop = await startLoop(config, context, openSession, log);
  const watching = new AbortController();
  const followed = followHost(config, { db, host }, watching.signal, log);
  void deployAllLeftPushes(context, watching.signal);
  const stopPruning = keepEventsFor(config.eventsDays, db, log);
  const stopForgetting = keepActivityFor(config.auditDays, db, log);
  const stopCounting = keepUsage(db, log);
  // The first answer of the API already knows which instances sleep, and what can be restored.
  await Promise.race([followed, Bun.sleep(HOST_TIMEOUT_MS)]);
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

function contextOf(config: Config, parts: Pick<KindContext, "db" | "vault" | "hosts" | "log">): KindContext {
  const { dataDir, quotas, edge, localGitServers: localServers } = config;
  const repositories = new Repositories(repositoriesDir(dataDir), { localServers });
  return kindContext({ ...parts, quotas, edge, repositories });
}

async function startLoop(
  { backups }: Config,
  context: KindContext,
  openSession: (onClose: () => void) => Database,
  log: Log,
): Promise<Loop> {
  const { db, hosts } = context;
  const intervalMs = backups.verificationSeconds * 1_000;
  const verifying = reconcileVerifications(context, { intervalMs, log });
  const reconcilers = new Map([...allReconcilers(context), [VERIFICATIONS, verifying]]);
  const hostIds = hosts.all.map(({ id }) => id);
  const loop = new Loop({ db, openSession, hostIds, reconcilers, slowKinds, log });
  await loop.start();
  await Promise.all(hostIds.map((id) => enqueueVerifications(db, id)));
  return loop;
}

/** @returns a promise that resolves when the states of all instances and archives were reported once. */
async function followHost(
  { databaseUrl, backups }: Config,
  { db, host }: { db: Database; host: ReturnType<typeof servedHost<WatchedStates>> },
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const { driver } = host;
  const watched = watchInstances({ db, host }, signal, log);
  const archived = followArchives({ db, host }, signal, log);
  void followStorage({ db, driver }, signal, log);
  void followReadings({ db, host }, signal, log);
  void followJournal({ db, host }, signal, log);
  if (databaseUrl === undefined) keepStoreSafe({ db, host }, backups, signal, log);
  await Promise.all([watched, archived]);
}

/** Backs up the store that Pilvi runs itself, and restores its backups for a check. */
function keepStoreSafe(
  { db, host }: Pick<StoreVerifierParts, "db" | "host">,
  { verificationSeconds }: Config["backups"],
  signal: AbortSignal,
  log: Log,
): void {
  const { driver, archiveStates } = host;
  const archives = () => archiveStates.all();
  const verified = () => archiveStates.verificationOf(STORE_ID).sound?.backup ?? null;
  void backUpStore({ driver, archives, verified, log }, signal);
  void verifyStore({ db, host, intervalMs: verificationSeconds * 1_000, log }, signal);
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
    protocols: allProtocols(context),
    kinds: kinds.map(({ name }) => name),
    hostnames: [config.host, config.publicHost],
    isPublic: !isLoopback(config.host),
    consoleDir: consoleFolder(config.dataDir),
    rateLimitPerMinute: config.rateLimitPerMinute,
    readiness: { host: async () => void (await context.hosts.forNew().driver.offer()) },
  });
  const sources = [sleepGauges, instanceGauges, backupGauges, ...kinds.flatMap((kind) => kind.figures ?? [])];
  for (const figures of sources) app.metrics.addFigures(figures, context);
  return app;
}
