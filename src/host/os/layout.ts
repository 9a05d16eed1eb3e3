// The folders of the host and of its instances: names derive from the id, modes keep instances from each other.
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Account, InstancePaths } from "../../engines/engine.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { chownTree } from "../../lib/files.ts";

/** Where everything of one instance lies. */
export interface InstanceFolder {
  path: string;
  /** What the instance is to be; the host's own. */
  manifest: string;
  /** Whoever holds it runs the instance. */
  lock: string;
  /** What the engine of the latest start wrote. */
  log: string;
  conf: string;
  data: string;
  run: string;
  tmp: string;
}

/** The folder that holds one folder for each instance. */
export function instancesDir(dataDir: string): string {
  return join(dataDir, "instances");
}

/** The socket on which the host takes orders from the control plane. */
export function hostSocket(dataDir: string): string {
  return join(dataDir, "run", "host.sock");
}

/** The socket on which the host and the gateway tell each other of sleep and wake. */
export function gatewaySocket(dataDir: string): string {
  return join(dataDir, "run", "gateway.sock");
}

/** The socket on which the host hands over those that listen at addresses, and is handed those that a gateway has. */
export function addressSocket(dataDir: string): string {
  return join(dataDir, "run", "addresses.sock");
}

/** What the host publishes for the gateway or the control plane: the certificates that it shows. */
export function certificatesFile(dataDir: string, reader: "gateway" | "control"): string {
  return join(dataDir, "run", `${reader}-certificates.json`);
}

/** What happened to instances and was not taken by the control plane yet. */
export function journalFile(dataDir: string): string {
  return join(dataDir, "host-journal.jsonl");
}

/** Whether a name can be an instance's; others could lead out of the folder, or are no business of ours. */
function isInstanceId(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name);
}

/** The ids of all instances on the disk, in the order in which they start: the control plane waits for the store. */
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
    conf: join(path, "conf"),
    data: join(path, "data"),
    run: join(path, "run"),
    tmp: join(path, "tmp"),
  };
}

/** The paths that the engine is told of. */
export function enginePaths(folder: InstanceFolder, socketName: string): InstancePaths {
  return {
    confDir: folder.conf,
    dataDir: folder.data,
    runDir: folder.run,
    tmpDir: folder.tmp,
    socket: join(folder.run, socketName),
  };
}

/** Makes the instance's own folder, which its engine may pass through but not write. */
export function ensureInstanceFolder(folder: InstanceFolder): void {
  mkdirSync(folder.path, { recursive: true });
  chmodSync(folder.path, 0o711);
}

/**
 * Makes the folders inside with their owners and modes: `conf` is read by the engine, `data` and `tmp` are its alone, and
 * the socket in `run` can be reached by one more process of Pilvi, through the group that the folder hands on.
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
  giveData(folder.data, account);
  chownSync(folder.conf, 0, account.gid);
  chmodSync(folder.conf, 0o750);
  for (const path of [folder.data, folder.tmp]) chownSync(path, account.uid, account.gid);
  chownSync(folder.run, account.uid, neighbour.gid);
  chmodSync(folder.run, 0o2710);
}

/** Data that an earlier Pilvi gave to another user is given to this one, its folder last, so that a host that is killed goes on. */
function giveData(data: string, account: Account): void {
  const { uid } = statSync(data);
  if (uid !== account.uid && uid !== 0) chownTree(data, account);
}

/** Deletes everything of an instance. The manifest goes last: until then a host that starts knows what is to be done. */
export async function deleteFolder({ path, manifest, ...contents }: InstanceFolder): Promise<void> {
  for (const each of Object.values(contents)) rmSync(each, { recursive: true, force: true });
  await failpoint("host.remove.emptied");
  rmSync(manifest, { force: true });
  await failpoint("host.remove.forgotten");
  rmSync(path, { recursive: true, force: true });
}
