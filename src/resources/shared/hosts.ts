// The directory of hosts. A resource gets its driver, host names and ports from the host on which it is placed.
import type { Offer } from "../../contracts/host-answers.ts";
import type { Driver } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import type { HostDirectory, ServedHost } from "../kind.ts";
import { WatchedArchives } from "./backups/archive-states.ts";
import { rememberedOffer } from "./offers.ts";
import { WatchedStates } from "./observed-states.ts";

/** The properties of a host; its observed states and its archives are empty at first. */
export type HostSettings = Omit<ServedHost, "offer" | "observedStates" | "archiveStates">;

/** A host with the observed states and the archives of its driver. */
export function servedHost<ObservedStates extends WatchedStates>(
  settings: HostSettings,
  observedStates: ObservedStates,
): ServedHost & { observedStates: ObservedStates; archiveStates: WatchedArchives } {
  const offer = (): Promise<Offer> => remembered();
  const host = { ...settings, observedStates, archiveStates: new WatchedArchives(observedStates), offer };
  const remembered = rememberedOffer(() => host.driver);
  return host;
}

/** @param served the hosts of this control plane; new resources are placed on the first. */
export function hostDirectory(served: readonly [ServedHost, ...ServedHost[]]): HostDirectory {
  const [first] = served;
  const byId = new Map(served.map((host) => [host.id, host]));
  return { all: served, of: (id) => byId.get(id) ?? unserved(id, first), forNew: () => first };
}

/**
 * A host that a row names and that has no driver in this control plane, as after a move of the store to another
 * machine.
 */
function unserved(id: string, like: ServedHost): ServedHost {
  const refuse = (): Promise<never> =>
    Promise.reject(new PublicError(`This Pilvi does not serve the host ${id}.`));
  const driver: Driver = {
    offer: refuse,
    ensure: refuse,
    suspend: refuse,
    remove: refuse,
    observe: refuse,
    figures: refuse,
    debug: async function* () {
      yield await refuse();
    },
    logs: refuse,
    queries: refuse,
    end: refuse,
    cancel: refuse,
    statements: refuse,
    resetStatements: refuse,
    backUp: refuse,
    archives: refuse,
    archive: refuse,
    deleteBackup: refuse,
    deleteArchive: refuse,
    retain: refuse,
    planRestore: refuse,
    verify: refuse,
    storage: refuse,
    readings: refuse,
    freePorts: refuse,
    journal: refuse,
    ensureRoute: refuse,
    removeRoute: refuse,
    wakeRoute: refuse,
    routes: refuse,
    probeEdge: refuse,
    build: refuse,
    observeBuild: refuse,
    openTerminal: refuse,
    buildLog: refuse,
    cancelBuild: refuse,
    removeBuild: refuse,
    release: refuse,
    removeRelease: refuse,
    removeEnvironment: refuse,
    environmentLogs: refuse,
    watch: () => {},
  };
  return servedHost({ ...like, id, driver }, new WatchedStates());
}
