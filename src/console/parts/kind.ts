// What each kind of resource brings to the console.
import type { LucideIcon } from "lucide-react";
import type { ConsolePage } from "./page.tsx";

/** The members that the console needs of every resource; the pages of a kind know the others. */
export interface ConsoleResource {
  id: string;
  type: string;
  attributes: { name: string; status: string; region: string; type: string; created_at: string | null };
  meta?: { sleep?: SleepState; last_error?: string | null; backup?: object | null };
}

/** Whether an instance sleeps, as the API reports it. */
export interface SleepState {
  state: "awake" | "asleep" | "waking" | "draining";
}

/** The part of a collection of the SDK that lists need. */
interface ResourceCollection<Resource extends ConsoleResource = ConsoleResource> {
  pages(): AsyncIterable<{ data: Resource[]; meta: { total: number } }>;
  get(id: string, options?: { signal?: AbortSignal }): Promise<{ data: Resource }>;
}

/** A kind as its own pages know it. */
export interface KindIdentity<Resource extends ConsoleResource = ConsoleResource> {
  /** The name of its slice, such as `caches`; also the first part of its query keys. */
  name: string;
  /** The `type` of its resources in the API. */
  resourceType: string;
  /** The address of its list. */
  path: string;
  noun: string;
  plural: string;
  icon: LucideIcon;
  collection: ResourceCollection<Resource>;
  /** What activity says of its parts, by their kinds in the API, such as `deployments`. */
  partNouns?: Readonly<Record<string, string>>;
  /** Types of its parts that its list shows along, such as `environments`: their events have the list read again. */
  partTypes?: readonly string[];
  /** Whether its resources have the log of an engine; they have unless this is false. */
  hasLog?: boolean;
  /** Pages of one resource beside its main page and its log; each needs the ability to see credentials, or none. */
  views?: readonly { path: string; label: string; isForAll?: boolean }[];
  /** One line for lists and the overview, such as `Valkey 250 MB`. */
  summaryOf(resource: Resource): string;
}

/** A kind with its pages; `src/console/kinds.ts` lists all of them. */
export interface ConsoleKind<
  Resource extends ConsoleResource = ConsoleResource,
> extends KindIdentity<Resource> {
  pages: ConsolePage[];
}
