// Schedules of the pure lifecycle of an instance, identified by their seeds.
import type { StateName } from "../../src/host/lifecycle/state.ts";
import { LifecycleWorld } from "./model/lifecycle.ts";

/**
 * Runs a schedule: events in random order, then no failures until every request is fulfilled.
 * @returns the transitions that occurred.
 * @throws with the history when an invariant is broken.
 */
export function playSchedule(seed: number): Set<string> {
  const world = new LifecycleWorld(seed);
  const assert = (holds: boolean, fault: string) => {
    if (!holds)
      throw new Error(`schedule ${seed}: ${fault} (${world.name})\n${world.trace.slice(-60).join("\n")}`);
  };
  const come = (demand: Parameters<LifecycleWorld["ask"]>[0], states: StateName[], spec?: number) => {
    world.ask(demand, spec);
    world.settle();
    world.check();
    assert(world.waiting.size === 0, `${demand} is not answered`);
    assert(states.includes(world.name), `${demand} does not come about`);
  };
  world.ask("ensure");
  for (let step = 0; step < 10 + (seed % 100); step++) {
    world.step();
    world.check();
  }
  world.isLucky = true;
  world.settle();
  assert(world.waiting.size === 0, "somebody waits in vain");
  while (world.isLeaving) {
    world.replaceHost();
    world.settle();
  }
  come("ensure", ["running", "asleep"], -1);
  assert(world.manifest?.spec === -1, "the desired state is another");
  come("wake", ["running"]);
  come("suspend", ["asleep"]);
  come("idle", ["asleep"]);
  come("wake", ["running"]);
  assert(world.engine?.spec === -1, "it runs with another spec");
  come("remove", ["absent"]);
  assert(world.engine === null && world.manifest === null, "something is left of it");
  return world.seen;
}
