// The pages of WebSocket clusters in the console.
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { parseLogSearch } from "../../../console/parts/logs/log-search.ts";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import { definePage } from "../../../console/parts/page.tsx";
import type { WebsocketServerResource } from "../../../sdk/index.ts";
import { parseDebugSearch } from "./debug-search.ts";
import { websocketKind } from "./kind.ts";
import { parseWebsocketSearch } from "./search.ts";

export const websockets: ConsoleKind<WebsocketServerResource> = {
  ...websocketKind,
  pages: [
    definePage({
      path: "/websockets",
      title: "WebSockets",
      parseSearch: parseListSearch,
      load: () => import("./list.tsx"),
    }),
    definePage({
      path: "/websockets/new",
      title: "Create WebSocket cluster",
      load: () => import("./create.tsx"),
    }),
    definePage({
      path: "/websockets/$id",
      title: "WebSocket cluster",
      parseSearch: parseWebsocketSearch,
      load: () => import("./detail.tsx"),
    }),
    definePage({
      path: "/websockets/$id/applications/new",
      title: "Create application",
      load: () => import("./application-create.tsx"),
    }),
    definePage({
      path: "/websockets/$id/logs",
      title: "Log of a WebSocket cluster",
      parseSearch: parseLogSearch,
      load: () => import("./logs.tsx"),
    }),
    definePage({
      path: "/websockets/$id/applications/$application/debug",
      title: "Debug",
      parseSearch: parseDebugSearch,
      load: () => import("./debug.tsx"),
    }),
  ],
};
