// All kinds of resources that this Pilvi offers.
import { caches } from "./caches/index.ts";
import { databases } from "./databases/index.ts";
import type { ResourceKind } from "./kind.ts";
import { websockets } from "./websockets/index.ts";

export const kinds: ResourceKind[] = [caches, databases, websockets];
