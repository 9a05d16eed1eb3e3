// How requests find a cache, for the steps that all kinds of instances share.
import type { InstanceSearch } from "../shared/desired-state.ts";
import { findCache, type CacheRow } from "./store.ts";

export const cacheSearch = {
  kind: "caches",
  noun: "cache",
  find: findCache,
} as const satisfies InstanceSearch<CacheRow>;
