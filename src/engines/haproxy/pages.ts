// The pages that the edge itself answers with, when no application can.

import { CHALLENGE_SCRIPT } from "./challenge.ts";
import { confPath } from "./paths.ts";

/** A page of the edge. */
interface Page {
  status: number;
  title: string;
  text: string;
}

const REFUSED: Page = {
  status: 403,
  title: "This request is refused",
  text: "The owner of the application has the edge refuse requests like this.",
};

const CHALLENGE: Page = {
  status: 403,
  title: "One moment",
  text: "The application gets many requests. Your browser works for a second, then the page appears. This needs JavaScript.",
};

const PAGES: Page[] = [
  {
    status: 400,
    title: "This request is malformed",
    text: "Its name or its length could be understood in more than one way, so no application gets it.",
  },
  REFUSED,
  {
    status: 404,
    title: "No application answers here",
    text: "The address may be misspelt, nothing may have been deployed to it yet, or the application was removed or has another name now.",
  },
  {
    status: 405,
    title: "This method is not allowed",
    text: "The edge opens no tunnels to applications, and echoes no requests.",
  },
  {
    status: 429,
    title: "Too many requests",
    text: "Wait a moment, then load the page again.",
  },
  {
    status: 502,
    title: "The application broke off its answer",
    text: "It runs, but what it answered was no valid answer. Its log says more to its owner.",
  },
  {
    status: 503,
    title: "The application does not run",
    text: "It may be starting. Load the page again in a moment; its owner finds the reason in its log.",
  },
  {
    status: 504,
    title: "The application did not answer in time",
    text: "It runs, but took longer than it may. Its log says more to its owner.",
  },
];

const STYLE =
  ":root{color-scheme:light dark}body{margin:0;min-height:100vh;display:grid;place-items:center;" +
  "font:16px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}main{max-width:32rem;padding:2rem}" +
  "h1{font-size:1.4rem;margin:.2rem 0 .6rem}p{margin:0 0 1rem}small{opacity:.65}";

const CHALLENGE_FILE = "challenge.html";

/** The name of the file of a status. */
function pageFile(status: number): string {
  return `${status}.html`;
}

/** The arguments of `return` and `http-error` for a page. */
export function page(name: number | "challenge"): string {
  const type = 'content-type "text/html; charset=utf-8"';
  const [status, file] = name === "challenge" ? [CHALLENGE.status, CHALLENGE_FILE] : [name, pageFile(name)];
  return `status ${status} ${type} lf-file ${confPath(file)} hdr cache-control no-store`;
}

/** The statuses for which an answer of the edge itself has a page. */
export const FAILURE_STATUSES = PAGES.map(({ status }) => status).filter((status) => status > 404);

/** The files of all pages. HAProxy puts the id of the request in. */
export function pageFiles(): Record<string, string> {
  const script = `<script>var SEED="%[var(txn.seed)]";${escaped(CHALLENGE_SCRIPT)}</script>`;
  return {
    ...Object.fromEntries(PAGES.map((each) => [pageFile(each.status), htmlOf(each)])),
    [CHALLENGE_FILE]: `${htmlOf(CHALLENGE)}${script}\n`,
  };
}

/** In a page, `%` begins a variable of HAProxy, so each `%` of the text stands twice. */
function htmlOf({ status, title, text }: Page): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`;
  const before = `<!doctype html>\n<html lang="en"><head>${head}<title>${title}</title><style>${STYLE}</style></head>`;
  const main = `<main><small>${status}</small><h1>${title}</h1><p>${text}</p><small>Request `;
  return `${escaped(`${before}\n<body>${main}`)}%[unique-id]</small></main></body></html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("%", "%%");
}
