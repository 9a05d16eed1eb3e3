// The configuration of the web server that serves a static site.
import type { Runtime } from "../../contracts/application.ts";

/** What the configuration is made of. */
export interface Site {
  runtime: Extract<Runtime, { name: "static" }>;
  /** The folder that is served, as the server sees it. */
  root: string;
  address: string;
  port: number;
  /** For files that do not outlive the server, as the server sees it. */
  tmp: string;
  types: string;
}

/** The name of the file with the types of contents, beside the configuration. */
export const TYPES_FILE = "mime.types";

/** An nginx with one process, which the host restarts, and its log on the standard error output. */
export function siteConfig({ runtime, root, address, port, tmp, types }: Site): string {
  const last = runtime.fallback === null ? "=404" : quoted(`/${runtime.fallback}`);
  return [
    "daemon off;",
    "master_process off;",
    `pid ${quoted(`${tmp}/nginx.pid`)};`,
    "error_log stderr warn;",
    "events { worker_connections 4096; }",
    "http {",
    ...temporaryPaths(tmp),
    `  include ${quoted(types)};`,
    "  default_type application/octet-stream;",
    "  access_log off;",
    "  server_tokens off;",
    "  sendfile on;",
    "  tcp_nopush on;",
    "  keepalive_timeout 75s;",
    "  gzip on;",
    "  gzip_types text/plain text/css application/javascript application/json image/svg+xml;",
    "  server {",
    `    listen ${address}:${port};`,
    "    server_name _;",
    "    port_in_redirect off;",
    "    absolute_redirect off;",
    `    root ${quoted(root)};`,
    "    index index.html;",
    // Files such as `.env` and `.git` are no part of a site, apart from the folder for proofs of ownership.
    "    location ~ /\\.(?!well-known/) { return 404; }",
    `    location / { try_files $uri $uri.html $uri/index.html ${last}; }`,
    ...(runtime.fallback === null ? ["    error_page 404 /404.html;"] : []),
    "  }",
    "}",
    "",
  ].join("\n");
}

/** The types of contents that sites have. */
export const TYPES = `types {
  text/html html htm;
  text/css css;
  text/plain txt;
  text/xml xml;
  text/markdown md;
  text/calendar ics;
  text/csv csv;
  application/javascript js mjs;
  application/json json map;
  application/manifest+json webmanifest;
  application/pdf pdf;
  application/wasm wasm;
  application/zip zip;
  application/gzip gz;
  application/atom+xml atom;
  application/rss+xml rss;
  image/avif avif;
  image/gif gif;
  image/jpeg jpeg jpg;
  image/png png;
  image/svg+xml svg;
  image/webp webp;
  image/x-icon ico;
  font/otf otf;
  font/ttf ttf;
  font/woff woff;
  font/woff2 woff2;
  audio/mpeg mp3;
  audio/ogg ogg;
  audio/wav wav;
  video/mp4 mp4;
  video/webm webm;
}
`;

/** The folders for requests and answers that do not fit into the server's memory. */
export function temporaryPaths(tmp: string): string[] {
  return ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `  ${name}_temp_path ${quoted(`${tmp}/${name}`)};`,
  );
}

/** A word of a configuration of nginx. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}
