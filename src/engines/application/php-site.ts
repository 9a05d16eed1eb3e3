// The files by which nginx and php-fpm serve a public folder together in a sandbox, as one process for the host.
import { shellWord } from "../../lib/shell-word.ts";
import type { Tool } from "../tools/tools.ts";
import { quoted, temporaryPaths } from "./site.ts";

const MIB = 1024 ** 2;

/** The memory of a process of PHP that serves one request, as far as the number of processes goes. */
const WORKER_BYTES = 48 * MIB;
const [MIN_WORKERS, MAX_WORKERS] = [2, 64];

/** The bounds of a request's body, which nginx and PHP keep in memory while it arrives. */
const [MIN_UPLOAD, MAX_UPLOAD] = [8 * MIB, 128 * MIB];

const [SOCKET, NGINX_PID, FPM_PID] = ["/tmp/php-fpm.sock", "/tmp/nginx.pid", "/tmp/php-fpm.pid"];

export const [SITE_FILE, FPM_FILE] = ["nginx.conf", "php-fpm.conf"];

/** What the files are made of. */
export interface PhpSite {
  /** The public folder, as the server sees it. */
  root: string;
  /** Whether the public folder is the application itself, with files that nobody is to read. */
  isWhole: boolean;
  /** Folders in the public folder that the application writes to. */
  writable: readonly string[];
  address: string;
  port: number;
  types: string;
  memoryBytes: number;
  shutdownSeconds: number;
}

/** Processes of PHP start with the requests that need them, and end when they have none for a while. */
export function fpmConfig({ memoryBytes, shutdownSeconds }: PhpSite): string {
  const workers = between(Math.floor(memoryBytes / WORKER_BYTES), MIN_WORKERS, MAX_WORKERS);
  const upload = `${uploadBytes(memoryBytes) / MIB}M`;
  return [
    "[global]",
    `pid = ${FPM_PID}`,
    // The option that leads messages to the standard error output leaves this file unused.
    "error_log = /dev/null",
    "log_level = warning",
    // php-fpm breaks longer lines of its processes, and a broken line of JSON cannot be read.
    "log_limit = 65535",
    "daemonize = no",
    `process_control_timeout = ${shutdownSeconds + 1}s`,
    "[application]",
    `listen = ${SOCKET}`,
    "listen.backlog = 1024",
    "pm = ondemand",
    `pm.max_children = ${workers}`,
    "pm.process_idle_timeout = 60s",
    "clear_env = no",
    "catch_workers_output = yes",
    "decorate_workers_output = no",
    "security.limit_extensions = .php",
    `php_value[memory_limit] = ${Math.max(64, Math.min(256, Math.floor(memoryBytes / MIB / 2)))}M`,
    `php_value[upload_max_filesize] = ${upload}`,
    `php_value[post_max_size] = ${upload}`,
    // Otherwise messages come back to nginx, which cuts them.
    "php_admin_value[fastcgi.logging] = 0",
    "",
  ].join("\n");
}

/** An nginx that answers with files, and asks PHP for all else. */
export function phpSiteConfig({
  root,
  isWhole,
  writable,
  address,
  port,
  types,
  memoryBytes,
}: PhpSite): string {
  return [
    "daemon off;",
    "worker_processes 1;",
    `pid ${NGINX_PID};`,
    // A warning would come with each body that is longer than a buffer.
    "error_log stderr error;",
    "events { worker_connections 4096; }",
    "http {",
    ...temporaryPaths("/tmp"),
    `  include ${quoted(types)};`,
    "  default_type application/octet-stream;",
    "  access_log off;",
    "  server_tokens off;",
    "  sendfile on;",
    "  tcp_nopush on;",
    "  keepalive_timeout 75s;",
    "  gzip on;",
    "  gzip_types text/plain text/css application/javascript application/json image/svg+xml;",
    "  map $http_x_forwarded_proto $is_https { https on; default ''; }",
    "  server {",
    `    listen ${address}:${port} backlog=1024;`,
    "    server_name _;",
    "    port_in_redirect off;",
    "    absolute_redirect off;",
    // The edge alone speaks with the application, and replaces this header.
    "    set_real_ip_from 127.0.0.0/8;",
    "    real_ip_header X-Forwarded-For;",
    `    client_max_body_size ${uploadBytes(memoryBytes)};`,
    `    root ${quoted(root)};`,
    "    index index.php index.html;",
    "    location ~ /\\.(?!well-known/) { return 404; }",
    ...(isWhole ? [`    location ~* ${PRIVATE} { return 404; }`] : []),
    // A file that the application has written is data, even where it has the name of a program.
    ...writable.map(
      (folder) =>
        `    location ^~ ${quoted(`/${folder}/`)} { ${isWhole ? "return 404" : "try_files $uri =404"}; }`,
    ),
    "    location / { try_files $uri $uri/ /index.php$is_args$args; }",
    "    location ~ \\.php(?:/|$) {",
    "      fastcgi_split_path_info ^(.+?\\.php)(/.*)?$;",
    "      set $path_info $fastcgi_path_info;",
    // A link to a writable folder must not make a program of a file that a visitor has uploaded.
    "      disable_symlinks on from=$document_root;",
    "      try_files $fastcgi_script_name =404;",
    `      fastcgi_pass unix:${SOCKET};`,
    "      fastcgi_read_timeout 300s;",
    ...Object.entries(PARAMETERS).map(([name, value]) => `      fastcgi_param ${name} ${value};`),
    "    }",
    "  }",
    "}",
    "",
  ].join("\n");
}

/** Files of an application that are for its makers, where the application has no public folder. */
const PRIVATE =
  '"^/(?:(?:vendor|node_modules)/.*\\.(?:php|json|lock)$|(?:[^/]+\\.(?:lock|sql|sqlite3?|ya?ml|toml|ini|log|dist|neon|sh|bak)|artisan|procfile|dockerfile|(?:composer|package|package-lock|railpack)\\.json)$)"';

const PARAMETERS: Record<string, string> = {
  SCRIPT_FILENAME: "$document_root$fastcgi_script_name",
  SCRIPT_NAME: "$fastcgi_script_name",
  PATH_INFO: "$path_info",
  DOCUMENT_ROOT: "$document_root",
  DOCUMENT_URI: "$document_uri",
  REQUEST_URI: "$request_uri",
  QUERY_STRING: "$query_string",
  REQUEST_METHOD: "$request_method",
  REQUEST_SCHEME: "$http_x_forwarded_proto if_not_empty",
  CONTENT_TYPE: "$content_type",
  CONTENT_LENGTH: "$content_length",
  GATEWAY_INTERFACE: "CGI/1.1",
  SERVER_PROTOCOL: "$server_protocol",
  SERVER_SOFTWARE: "nginx",
  SERVER_NAME: "$host",
  SERVER_ADDR: "$server_addr",
  SERVER_PORT: "$http_x_forwarded_port if_not_empty",
  REMOTE_ADDR: "$remote_addr",
  HTTPS: "$is_https if_not_empty",
  REDIRECT_STATUS: "200",
  // Programs would take a visitor's header for the address of a proxy.
  HTTP_PROXY: '""',
};

/**
 * The script that runs both: php-fpm first, then nginx, so that no request comes too early. On SIGTERM, both end what
 * they have begun; when either ends by itself, the script ends, and the sandbox with all that is in it.
 * @param conf the folder of the files. @param lines that come first, such as the customer's variables.
 */
export function phpScript(conf: string, server: Tool, lines: string): string {
  const words = Object.entries(server.env).map(([name, value]) => shellWord(`${name}=${value}`));
  const nginx = ["env -i", ...words, server.program, "-e stderr -p / -c", `${conf}/${SITE_FILE}`].join(" ");
  // The lock of the instance is the descriptor 3, by which the host knows this script alone.
  // Its own names come after those of the customer's variables.
  return `begin() { ( trap : TERM INT; "$@"; kill -USR1 $main ) 3>&- & }
end() {
  trap '' TERM INT USR1
  kill -QUIT "$(cat ${NGINX_PID})" && wait $web
  kill -QUIT "$(cat ${FPM_PID})" && wait $php
  exit 0
}
trap 'exit 1' USR1 TERM INT
${lines}main=$$
begin php-fpm --nodaemonize --force-stderr --fpm-config ${conf}/${FPM_FILE}
php=$!
until test -S ${SOCKET}; do sleep 0.005; done
begin setsid ${nginx}
web=$!
trap end TERM INT
wait
exit 1
`;
}

function uploadBytes(memoryBytes: number): number {
  return between(Math.floor(memoryBytes / 4 / MIB) * MIB, MIN_UPLOAD, MAX_UPLOAD);
}

function between(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
