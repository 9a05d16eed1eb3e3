// Deletes an instance step by step. A step that a kill cuts off is taken again by the next host.
import { existsSync, rmSync } from "node:fs";
import { failpoint } from "../../lib/failpoint.ts";
import type { HostBackups } from "../backups/host-backups.ts";
import type { InstanceAddress } from "../engine/instance-address.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import { deleteFolder, type InstanceFolder } from "../os/layout.ts";

/** The parts of the instance to remove. */
export interface RemovalParts {
  id: string;
  folder: InstanceFolder;
  file: ManifestFile;
  lifecycle: InstanceLifecycle;
  gateway: InstanceGateway;
  runner: EngineRunner;
  address: InstanceAddress;
  backups: Pick<HostBackups, "shipLastLog">;
}

/** Kills the engine, and deletes everything of the instance; it may be absent. */
export async function removeInstance(parts: RemovalParts): Promise<void> {
  const { id, folder, file, lifecycle, gateway, runner, address, backups } = parts;
  if (file.manifest === null && !existsSync(folder.path)) return;
  if (file.manifest?.state !== "removing") await file.change({ state: "removing" });
  lifecycle.report({ type: "removalBegun" });
  await failpoint("host.remove.marked");
  const withdrawn = gateway.withdraw(id);
  await runner.stop({ signal: "SIGKILL" });
  await failpoint("host.remove.stopped");
  await withdrawn;
  address.drop();
  if (existsSync(folder.conf)) await backups.shipLastLog(id);
  // Without it the next host knows that data may be missing, and ships nothing of it.
  rmSync(folder.conf, { recursive: true, force: true });
  await deleteFolder(folder);
  file.forget();
  runner.forget();
  lifecycle.report({ type: "removed" });
}
