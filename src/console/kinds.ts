// The list of the kinds that have pages: a new kind is one line more.
import { caches } from "../resources/caches/console/index.ts";
import { databases } from "../resources/databases/console/index.ts";
import { websockets } from "../resources/websockets/console/index.ts";
import type { ConsoleKind } from "./parts/kind.ts";

export const kinds: readonly ConsoleKind[] = [databases, caches, websockets];
