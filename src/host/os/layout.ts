// The folders of the host and of its instances: names derive from the id, modes separate instances from each other.
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Account, InstancePaths } from "../../engines/engine.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { spreadFolders } from "../../lib/spread-folders.ts";
import { giveContents } from "../../lib/tree-owner.ts";
import { removeTrees } from "../../lib/tree-removal.ts";

/** The paths of one instance. */
export interface InstanceFolder {
  path: string;
  /** The manifest, which only the host can read. */
  manifest: string;
  /** The process that holds this lock runs the instance. */
  lock: string;
  /** The output of the engine over all its starts, of which the end is kept. */
  log: string;
  /** Says which process has taken connections. */
  served: string;
  /** Says which process the journal has recorded. */
  recorded: string;
  /** Says that the engine is being ended. */
  endOrder: string;
  conf: string;
  data: string;
  run: string;
  tmp: string;
  /** Says that the data is to be built anew. */
  rebuild: string;
  /** Data of another instance on its way to `data`. */
  incoming: string;
  /** The data that other data has replaced, until it is deleted. */
  former: string;
}

/** The folder that holds one folder for each instance. */
export function instancesDir(dataDir: string): string {
  return join(dataDir, "instances");
}

/** Makes the folder of all instances, whose folders an ext4 keeps apart. */
export function ensureInstancesDir(dataDir: string): void {
  const folder = instancesDir(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  spreadFolders(folder);
}

/** The folder that holds one folder for each release. */
export function releasesDir(dataDir: string): string {
  return join(dataDir, "releases");
}

/** The folder that holds one folder for each build. */
export function buildsDir(dataDir: string): string {
  return join(dataDir, "builds");
}

/** The folder that holds one folder for each environment, with its user and its cache. */
export function environmentsDir(dataDir: string): string {
  return join(dataDir, "environments");
}

/** The customer's files of a release. @throws when the id could lead out of the folder. */
export function releaseApp(dataDir: string, id: string): string {
  if (!isInstanceId(id)) throw new Error(`not a release id: ${id}`);
  return join(releasesDir(dataDir), id, "app");
}

/** The folder that sandboxes show as `/etc`. */
export function etcDir(dataDir: string): string {
  return join(dataDir, "etc");
}

/** The socket on which the host takes requests of the control plane. */
export function hostSocket(dataDir: string): string {
  return join(dataDir, "run", "host.sock");
}

/** The socket on which host and gateway exchange messages about sleep and wake. */
export function gatewaySocket(dataDir: string): string {
  return join(dataDir, "run", "gateway.sock");
}

/** The socket on which the host and the gateway exchange the sockets of addresses. */
export function addressSocket(dataDir: string): string {
  return join(dataDir, "run", "addresses.sock");
}

/** The socket on which the edge asks the host for instances that do not run. */
export function edgeSocket(dataDir: string): string {
  return join(dataDir, "run", "edge.sock");
}

/** The socket on which the edge writes about requests. */
export function accessSocket(dataDir: string): string {
  return join(dataDir, "run", "access.sock");
}

/** The folder that holds the log of each environment. */
export function environmentLogsDir(dataDir: string): string {
  return join(dataDir, "logs");
}

/** The folder of the edge's routes, a file each. */
export function routesDir(dataDir: string): string {
  return join(dataDir, "routes");
}

/** The socket on which the keeper takes requests of the host. */
export function keeperSocket(dataDir: string): string {
  return join(dataDir, "run", "keeper.sock");
}

/** The folder of the keeper's own notes, and of backups that go nowhere else. */
export function keeperDir(dataDir: string): string {
  return join(dataDir, "backups");
}

/** The folder of throw-away copies, in which restores are verified. */
export function verificationsDir(dataDir: string): string {
  return join(dataDir, "verifications");
}

/** The certificates that the host publishes for the gateway or the control plane. */
export function certificatesFile(dataDir: string, reader: "gateway" | "control"): string {
  return join(dataDir, "run", `${reader}-certificates.json`);
}

/** The journal of events that the control plane has not taken yet. */
export function journalFile(dataDir: string): string {
  return join(dataDir, "host-journal.jsonl");
}

/** The ends of engines that `pilvi up` saw while no host ran. */
export function engineEndsFile(dataDir: string): string {
  return join(dataDir, "engine-ends.jsonl");
}

/** The readings of instances that the control plane has not taken yet. */
export function readingsFile(dataDir: string): string {
  return join(dataDir, "host-readings.jsonl");
}

/** The counters of engines as the host has read them last. */
export function countersFile(dataDir: string): string {
  return join(dataDir, "host-counters.json");
}

/** The answers that the edge has counted, as the host has read them last. */
export function countedRoutesFile(dataDir: string): string {
  return join(dataDir, "host-requests.json");
}

/** Whether a name can be an instance's id. Other names could lead out of the folder, or are not the host's. */
function isInstanceId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name);
}

/** The ids of all instances on the disk, in the order of their starts: the control plane waits for the store. */
export function instanceIds(dataDir: string): string[] {
  return readdirSync(instancesDir(dataDir)).filter(isInstanceId).sort(storeFirst);
}

function storeFirst(a: string, b: string): number {
  return Number(b === "store") - Number(a === "store") || a.localeCompare(b);
}

/** @throws when the id could lead out of the folder. */
export function instanceFolder(dataDir: string, id: string): InstanceFolder {
  if (!isInstanceId(id)) throw new Error(`not an instance id: ${id}`);
  const path = join(instancesDir(dataDir), id);
  return {
    path,
    manifest: join(path, "manifest.json"),
    lock: join(path, "lock"),
    log: join(path, "engine.log"),
    served: join(path, "served"),
    recorded: join(path, "recorded"),
    endOrder: join(path, "end-order.json"),
    conf: join(path, "conf"),
    data: join(path, "data"),
    run: join(path, "run"),
    tmp: join(path, "tmp"),
    rebuild: join(path, "rebuild"),
    incoming: join(path, "incoming"),
    former: join(path, "former"),
  };
}

/** The paths that the engine gets. */
export function enginePaths(folder: InstanceFolder, socketName: string): InstancePaths {
  return {
    confDir: folder.conf,
    dataDir: folder.data,
    runDir: folder.run,
    tmpDir: folder.tmp,
    socket: join(folder.run, socketName),
  };
}

/** Makes the instance's own folder. The engine may pass through it but not write to it. */
export function ensureInstanceFolder(folder: InstanceFolder): void {
  mkdirSync(folder.path, { recursive: true });
  chmodSync(folder.path, 0o711);
}

/**
 * Makes the folders inside with their owners and modes. The engine reads `conf`, and alone uses `data` and `tmp`. One
 * more process of Pilvi reaches the socket in `run`, through the group that the folder hands on.
 * @param neighbour the user of that process.
 */
export function ensureEngineFolders(
  folder: InstanceFolder,
  account: Account | null,
  neighbour: Account,
): void {
  for (const path of [folder.conf, folder.data, folder.run, folder.tmp])
    mkdirSync(path, { recursive: true, mode: 0o700 });
  if (account === null) return;
  chownSync(folder.conf, 0, account.gid);
  chmodSync(folder.conf, 0o750);
  // An engine whose log the keeper reads has a group of its own for its data.
  if (statSync(folder.data).uid !== account.uid) chownSync(folder.data, account.uid, account.gid);
  chownSync(folder.tmp, account.uid, account.gid);
  chownSync(folder.run, account.uid, neighbour.gid);
  chmodSync(folder.run, 0o2710);
}

/**
 * Gives what is in data of an earlier Pilvi's user to this user. The folder itself follows with the others, so that the
 * next host goes on after a kill.
 */
export async function giveData(
  { data }: Pick<InstanceFolder, "data">,
  account: Account | null,
): Promise<void> {
  const { uid } = statSync(data, { throwIfNoEntry: false }) ?? { uid: 0 };
  if (account !== null && uid !== account.uid && uid !== 0) await giveContents(data, account);
}

/** Deletes everything of an instance. The manifest goes last, so that the next host finishes after a kill. */
export async function deleteFolder({ path, manifest, ...contents }: InstanceFolder): Promise<void> {
  // An application that can see its own folder may have made any tree in it.
  await removeTrees(Object.values(contents));
  await failpoint("host.remove.emptied");
  rmSync(manifest, { force: true });
  await failpoint("host.remove.forgotten");
  rmSync(path, { recursive: true, force: true });
}
