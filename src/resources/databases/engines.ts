// Chooses the engine of a cluster by its type, from the installed engines.
import type { FieldErrors } from "../../api/jsonapi/errors.ts";
import type { EngineName } from "../../contracts/engine-names.ts";
import type { Offer } from "../../contracts/host-answers.ts";
import { noEngineFault } from "../shared/offers.ts";
import { enginesFor, type DatabaseType } from "./types.ts";

/** An engine, and the part of its version that a cluster keeps for life. */
interface EngineChoice {
  name: EngineName;
  /** Such as `17` for Postgres, `10.11` for MariaDB. */
  version: string;
}

const byNumber = new Intl.Collator("en", { numeric: true });

/** The choices for a type: the preferred engine first, the newest version first, every version once. */
export function choicesFor(type: DatabaseType, { engines }: Offer): EngineChoice[] {
  return installedFor(type, engines)
    .map(({ name, major }) => ({ name, version: major }))
    .filter(({ version }, index, all) => all.findIndex((other) => other.version === version) === index);
}

/**
 * Chooses the engine for a new cluster.
 * @param asked the version that the client asks for: a major version, an installed version in full, or the beginning of
 * either.
 * @returns undefined when no installed engine fits.
 */
export function chooseEngine(
  type: DatabaseType,
  asked: string | undefined,
  { engines }: Offer,
): EngineChoice | undefined {
  const chosen = installedFor(type, engines).find(
    ({ version }) => asked === undefined || version === asked || version.startsWith(`${asked}.`),
  );
  return chosen && { name: chosen.name, version: chosen.major };
}

/**
 * The extensions that customers can create in clusters of a type, by version; versions without extensions are absent.
 */
export function extensionsFor(
  type: DatabaseType,
  { engines }: Offer,
): Record<string, { name: string; version: string }[]> {
  const entries = installedFor(type, engines).map(({ major, extensions }) => [major, extensions] as const);
  return Object.fromEntries(
    entries.flatMap(([version, known]) => (known === undefined ? [] : [[version, known]])),
  );
}

/** Why no engine fits, by the field at fault; empty when an engine fits. */
export function engineFaults(type: DatabaseType, asked: string | undefined, offer: Offer): FieldErrors {
  if (chooseEngine(type, asked, offer) !== undefined) return {};
  const versions = choicesFor(type, offer).map(({ version }) => version);
  if (versions.length === 0) return { type: [noEngineFault(type, enginesFor(type))] };
  return {
    version: [`The version ${asked} is not installed for ${type}. These are: ${versions.join(", ")}.`],
  };
}

function installedFor(type: DatabaseType, engines: Offer["engines"]): Offer["engines"] {
  return enginesFor(type).flatMap((name) =>
    engines.filter((engine) => engine.name === name).sort((a, b) => byNumber.compare(b.version, a.version)),
  );
}
