// Which databases of an instance the API made, as its manifest says: a customer's own are neither taken over nor dropped.
import type { DatabaseWish, InstanceSpec } from "../../drivers/driver.ts";
import type { MadeDatabases } from "../../engines/engine.ts";
import type { ManifestFile } from "./manifest-file.ts";
import type { Manifest } from "./manifest.ts";

/** The record in a manifest, for an engine to ask and to change. */
export function madeDatabasesOf(file: ManifestFile): MadeDatabases {
  const write = async (change: (names: string[]) => string[]) => {
    if (file.manifest !== null) await file.change({ madeDatabases: change(namesIn(file.manifest)) });
  };
  return {
    has: (name) => file.manifest !== null && namesIn(file.manifest).includes(name),
    add: (name) => write((names) => [...names, name]),
    remove: (name) => write((names) => names.filter((other) => other !== name)),
  };
}

/**
 * The names in the manifest of a changed spec. In a new instance nobody but the host can make anything before the first wish is
 * fulfilled, so whatever that one names is the host's, the first data's database that is to be dropped included.
 */
export function madeDatabasesAfter(spec: InstanceSpec, former: Manifest | null): string[] {
  return former === null ? databasesOf(spec).map(({ name }) => name) : namesIn(former);
}

/** The databases that are not as the spec says, as far as the manifest knows. */
export function pendingDatabases(manifest: Manifest): string[] {
  const made = new Set(namesIn(manifest));
  return databasesOf(manifest.spec)
    .filter(({ name, wish }) => made.has(name) !== (wish === "present"))
    .map(({ name }) => name);
}

/** A manifest of a Pilvi that kept no record: it took all that the spec names for its own. */
function namesIn({ madeDatabases, spec }: Manifest): string[] {
  return madeDatabases ?? presentIn(spec);
}

function presentIn(spec: InstanceSpec): string[] {
  return databasesOf(spec)
    .filter(({ wish }) => wish === "present")
    .map(({ name }) => name);
}

function databasesOf(spec: InstanceSpec): DatabaseWish[] {
  return "databases" in spec ? spec.databases : [];
}
