// The rest of the host, as the edge needs it.
import type { RouteUse } from "../../engines/edge.ts";
import type { Certificate } from "../../engines/engine.ts";
import type { Log } from "../../lib/log.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { EdgeInstance } from "./wake-queue.ts";

/** The part of the logs that belongs to the edge. */
export interface EdgeAccess {
  /** Begins to take lines about requests. */
  listen(): void;
  /** Lets the user of the edge write. */
  admit(uid: number): void;
  /** Takes what the edge has counted of each route, since it remembers the route. */
  counted(usage: ReadonlyMap<string, RouteUse>): void;
  close(): void;
}

export interface EdgeHost {
  dataDir: string;
  /** The certificate that clients are shown now. */
  certificate(): Certificate | null;
  /** An instance; null when there is none of that id. */
  find(id: string): EdgeInstance | null;
  /** The edge's engine while it runs. */
  running(): Runnable | null;
  /** The user of the edge's engine; null before it has one. */
  uid(): number | null;
  /** The logs that the edge writes into; left out where nobody reads them. */
  access?: EdgeAccess;
  log: Log;
}
