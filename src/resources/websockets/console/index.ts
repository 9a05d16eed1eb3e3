// The pages of WebSocket clusters in the console.
import type { ConsoleKind } from "../../../console/parts/kind.ts";
import { parseListSearch } from "../../../console/parts/list-search.ts";
import { definePage } from "../../../console/parts/page.tsx";
import type { WebsocketServerResource } from "../../../sdk/index.ts";
import { websocketKind } from "./kind.ts";

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
    definePage({ path: "/websockets/$id", title: "WebSocket cluster", load: () => import("./detail.tsx") }),
  ],
};
