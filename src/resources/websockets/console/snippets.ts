// Ways to connect to a WebSocket application, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { WebsocketApplicationResource, WebsocketServerResource } from "../../../sdk/index.ts";

/** What a snippet needs to know of an application and its cluster. */
interface Application {
  appId: string;
  key: string;
  secret: string;
  hostname: string;
  port: number;
  isTls: boolean;
}

export function snippetsOf(
  { attributes: { hostname }, meta: { port, url } }: WebsocketServerResource,
  { attributes: { app_id: appId, key = "", secret = "" } }: WebsocketApplicationResource,
): Snippet[] {
  const application = { appId, key, secret, hostname, port, isTls: url.startsWith("wss:") };
  return [
    { label: "pusher-js", text: pusherJsCode(application) },
    { label: "Laravel Echo", text: echoCode(application) },
    { label: "Laravel .env", text: laravelSettings(application) },
    { label: "Node server", text: nodeCode(application) },
    { label: "Python server", text: pythonCode(application) },
    { label: "PHP server", text: phpCode(application) },
  ];
}

/** The options that both clients for browsers take. */
function browserOptions({ hostname, port, isTls }: Application): string {
  const address = `wsHost: "${hostname}", wsPort: ${port}, wssPort: ${port}, forceTLS: ${isTls}`;
  return `cluster: "", ${address}, enabledTransports: ["ws", "wss"]`;
}

function pusherJsCode(application: Application): string {
  return `import Pusher from 'pusher-js';

const pusher = new Pusher("${application.key}", { ${browserOptions(application)} });
pusher.subscribe("news").bind("greeting", (data) => console.log(data));`;
}

function echoCode(application: Application): string {
  return `import Echo from 'laravel-echo';
import Pusher from 'pusher-js';

window.Pusher = Pusher;
window.Echo = new Echo({ broadcaster: "pusher", key: "${application.key}", ${browserOptions(application)} });
window.Echo.channel("news").listen(".greeting", (data) => console.log(data));`;
}

function laravelSettings({ appId, key, secret, hostname, port, isTls }: Application): string {
  return [
    "BROADCAST_CONNECTION=pusher",
    `PUSHER_APP_ID=${appId}`,
    `PUSHER_APP_KEY=${key}`,
    `PUSHER_APP_SECRET=${secret}`,
    `PUSHER_HOST=${hostname}`,
    `PUSHER_PORT=${port}`,
    `PUSHER_SCHEME=${isTls ? "https" : "http"}`,
    "PUSHER_APP_CLUSTER=",
  ].join("\n");
}

function nodeCode({ appId, key, secret, hostname, port, isTls }: Application): string {
  return `import Pusher from 'pusher';

const pusher = new Pusher({
  appId: "${appId}", key: "${key}", secret: "${secret}", host: "${hostname}", port: "${port}", useTLS: ${isTls},
});
await pusher.trigger("news", "greeting", { text: "hello" });`;
}

function pythonCode({ appId, key, secret, hostname, port, isTls }: Application): string {
  return `import pusher

client = pusher.Pusher(
    app_id="${appId}", key="${key}", secret="${secret}", host="${hostname}", port=${port}, ssl=${isTls ? "True" : "False"}
)
client.trigger("news", "greeting", {"text": "hello"})`;
}

/** Signs the request itself, so that it runs where no package is installed. */
function phpCode({ appId, key, secret, hostname, port, isTls }: Application): string {
  return `<?php
$body = json_encode(["name" => "greeting", "channels" => ["news"], "data" => json_encode(["text" => "hello"])]);
$query = http_build_query([
    "auth_key" => "${key}", "auth_timestamp" => time(), "auth_version" => "1.0", "body_md5" => md5($body),
]);
$signature = hash_hmac("sha256", "POST\n/apps/${appId}/events\n$query", "${secret}");
$options = ["method" => "POST", "header" => "Content-Type: application/json", "content" => $body];
echo file_get_contents(
    "${isTls ? "https" : "http"}://${hostname}:${port}/apps/${appId}/events?$query&auth_signature=$signature",
    false,
    stream_context_create(["http" => $options])
);`;
}
