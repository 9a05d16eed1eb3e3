// Ways to connect to a WebSocket application, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { WebsocketApplicationResource, WebsocketServerResource } from "../../../sdk/index.ts";

export function snippetsOf(
  { attributes: { hostname }, meta: { port, url } }: WebsocketServerResource,
  { attributes: { app_id: appId, key = "", secret = "" } }: WebsocketApplicationResource,
): Snippet[] {
  const isTls = url.startsWith("wss:");
  const browser = `wsHost: "${hostname}", wsPort: ${port}, wssPort: ${port}, forceTLS: ${isTls}`;
  return [
    {
      label: "pusher-js",
      text: `import Pusher from 'pusher-js';

const pusher = new Pusher("${key}", { cluster: "", ${browser}, enabledTransports: ["ws", "wss"] });
pusher.subscribe("news").bind("greeting", (data) => console.log(data));`,
    },
    {
      label: "Laravel Echo",
      text: `import Echo from 'laravel-echo';
import Pusher from 'pusher-js';

window.Pusher = Pusher;
window.Echo = new Echo({ broadcaster: "pusher", key: "${key}", cluster: "", ${browser}, enabledTransports: ["ws", "wss"] });`,
    },
    {
      label: "Laravel .env",
      text: [
        "BROADCAST_CONNECTION=pusher",
        `PUSHER_APP_ID=${appId}`,
        `PUSHER_APP_KEY=${key}`,
        `PUSHER_APP_SECRET=${secret}`,
        `PUSHER_HOST=${hostname}`,
        `PUSHER_PORT=${port}`,
        `PUSHER_SCHEME=${isTls ? "https" : "http"}`,
        "PUSHER_APP_CLUSTER=",
      ].join("\n"),
    },
    {
      label: "Node server",
      text: `import Pusher from 'pusher';

const pusher = new Pusher({
  appId: "${appId}", key: "${key}", secret: "${secret}", host: "${hostname}", port: "${port}", useTLS: ${isTls},
});
await pusher.trigger("news", "greeting", { text: "hello" });`,
    },
  ];
}
