// The protocol of a cluster, which says how its SQL is written.
import type { DatabaseClusterResource } from "../../../../sdk/index.ts";

export type Protocol = DatabaseClusterResource["attributes"]["connection"]["protocol"];
