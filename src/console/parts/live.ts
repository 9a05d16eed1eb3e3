// Keeps what the console shows up to date: follows the events of the organization, and reads again what they changed.
import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { EventResource } from "../../sdk/index.ts";
import { followEvents, type LiveState } from "./event-stream.ts";
import type { ConsoleKind } from "./kind.ts";
import { refreshResource } from "./resources.ts";

/** The newest events that pages show, at most. */
const MAX_EVENTS = 200;

/** The key of the events that were read or have come, the newest first. */
export const EVENTS_KEY = ["events"] as const;

/** The key of the wakes and sleeps of an instance. */
export function wakesKey(id: string): readonly string[] {
  return ["wakes", id];
}

/** The key of all that has backups, deleted resources as well. */
export const ARCHIVES_KEY = ["archives"] as const;

/** The key of what happened to an instance and to its parts. */
export function historyKey(id: string): readonly string[] {
  return ["history", id];
}

let state: LiveState = "connecting";
const listeners = new Set<() => void>();

function become(next: LiveState): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

/** The state of the event stream, for components. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Follows until the signal is aborted; a session that has ended ends it as well. */
export async function keepFresh(
  cache: QueryClient,
  { organizationId, kinds }: { organizationId: string; kinds: readonly ConsoleKind[] },
  signal: AbortSignal,
): Promise<void> {
  const readAgain = () => void cache.invalidateQueries();
  await followEvents(
    organizationId,
    {
      onEvent: (event) => apply(cache, kinds, event),
      onState: become,
      onGap: readAgain,
      onRefusal: readAgain,
    },
    signal,
  );
}

function apply(cache: QueryClient, kinds: readonly ConsoleKind[], event: EventResource): void {
  cache.setQueryData<EventResource[]>(EVENTS_KEY, (old) => old && [event, ...old].slice(0, MAX_EVENTS));
  const { type, id } = event.relationships.resource.data;
  const { type: happened } = event.attributes;
  if (happened === "awake" || happened === "asleep") void cache.invalidateQueries({ queryKey: wakesKey(id) });
  if (happened === "deleted") void cache.invalidateQueries({ queryKey: ARCHIVES_KEY });
  void cache.invalidateQueries({ queryKey: historyKey(id) });
  const kind = kinds.find(({ resourceType }) => resourceType === type);
  const whole = kinds.find(({ partTypes = [] }) => partTypes.includes(type));
  if (whole !== undefined) void cache.invalidateQueries({ queryKey: [whole.name] });
  else if (kind !== undefined) void refreshResource(cache, kind, id).catch(() => undefined);
  // Of parts of resources, such as applications, the pages of the kind know the keys.
  else void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(type) });
}
