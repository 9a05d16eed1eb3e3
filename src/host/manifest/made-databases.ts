// Records in the manifest which databases the API made. A customer's own databases are neither taken over nor dropped.
import type { DatabaseSpec, InstanceSpec } from "../../contracts/instance-spec.ts";
import type { MadeDatabases } from "../../engines/engine.ts";
import type { ManifestFile } from "./manifest-file.ts";
import type { Manifest } from "./manifest.ts";

/** The record of one manifest, for an engine to query and to change. */
export function madeDatabasesOf(file: ManifestFile): MadeDatabases {
  const write = async (change: (names: string[]) => string[]) => {
    if (file.manifest !== null) await file.change({ madeDatabases: change(namesIn(file.manifest)) });
  };
  return {
    isOfOrigin: () => file.manifest?.isRestored === true,
    has: (name) => file.manifest !== null && namesIn(file.manifest).includes(name),
    add: (name) => write((names) => [...names, name]),
    remove: (name) => write((names) => names.filter((other) => other !== name)),
  };
}

/**
 * The recorded names after a change of the spec. In a new instance only the host can make databases before the first
 * spec is applied. All databases of that spec are therefore the host's, including a first database that it drops.
 */
export function madeDatabasesAfter(spec: InstanceSpec, former: Manifest | null): string[] {
  return former === null ? databasesOf(spec).map(({ name }) => name) : namesIn(former);
}

/** The databases that differ from the spec, as far as the manifest knows. */
export function pendingDatabases(manifest: Manifest): string[] {
  const made = new Set(namesIn(manifest));
  return databasesOf(manifest.spec)
    .filter(({ name, desiredState }) => made.has(name) !== (desiredState === "present"))
    .map(({ name }) => name);
}

/** The databases of the spec that the data of the origin does not have. */
export function missingDatabases(manifest: Manifest): string[] {
  return manifest.isRestored === true ? pendingDatabases(manifest) : [];
}

/** A manifest of an earlier Pilvi has no record: that Pilvi took all databases of the spec for its own. */
function namesIn({ madeDatabases, spec }: Manifest): string[] {
  return madeDatabases ?? presentIn(spec);
}

function presentIn(spec: InstanceSpec): string[] {
  return databasesOf(spec)
    .filter(({ desiredState }) => desiredState === "present")
    .map(({ name }) => name);
}

/** The databases of a spec; none for an engine without. */
export function databasesOf(spec: InstanceSpec): DatabaseSpec[] {
  return "databases" in spec ? spec.databases : [];
}
