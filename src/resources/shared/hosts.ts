// The directory of hosts: driver, addresses and ports of a resource are those of the host that it is placed on.
import type { Driver, Offer } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import type { HostDirectory, ServedHost } from "../kind.ts";
import { rememberedOffer } from "./offers.ts";
import { WatchedStates } from "./observed-states.ts";

/** What sets a host apart; what its driver told last is empty at first. */
export type HostSettings = Omit<ServedHost, "offer" | "observedStates">;

/** A host as its driver tells of it. */
export function servedHost<ObservedStates extends WatchedStates>(
  settings: HostSettings,
  observedStates: ObservedStates,
): ServedHost & { observedStates: ObservedStates } {
  const offer = (): Promise<Offer> => remembered();
  const host = { ...settings, observedStates, offer };
  const remembered = rememberedOffer(() => host.driver);
  return host;
}

/** @param served the hosts of this control plane; new resources are placed on the first. */
export function hostDirectory(served: readonly [ServedHost, ...ServedHost[]]): HostDirectory {
  const [first] = served;
  const byId = new Map(served.map((host) => [host.id, host]));
  return { all: served, of: (id) => byId.get(id) ?? unserved(id, first), forNew: () => first };
}

/** A host that a row names and that this control plane has no driver for, as after a move of the store to another machine. */
function unserved(id: string, like: ServedHost): ServedHost {
  const refuse = (): Promise<never> =>
    Promise.reject(new PublicError(`This Pilvi does not serve the host ${id}.`));
  const driver: Driver = {
    offer: refuse,
    ensure: refuse,
    suspend: refuse,
    remove: refuse,
    observe: refuse,
    metrics: refuse,
    figures: refuse,
    storage: refuse,
    freePorts: refuse,
    journal: refuse,
    watch: () => {},
  };
  return servedHost({ ...like, id, driver }, new WatchedStates());
}
