// The list of the kinds that have pages: a new kind is one line more.
import { applications } from "../resources/applications/console/index.ts";
import { caches } from "../resources/caches/console/index.ts";
import { databases } from "../resources/databases/console/index.ts";
import { websockets } from "../resources/websockets/console/index.ts";
import type { ConsoleKind } from "./parts/kind.ts";

export const kinds: readonly ConsoleKind[] = [applications, databases, caches, websockets];
