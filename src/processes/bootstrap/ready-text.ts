// The text of `pilvi up` when everything runs: the line that programs wait for, and next steps for a person.
import { join } from "node:path";
import { shellWord } from "../../lib/shell-word.ts";
import { baseUrl, defaultDataDir, loadConfig, type Config } from "../../config.ts";

/**
 * @param link the one-time link for the first account; null when there is an account.
 * @returns several lines, the first of which is fixed.
 */
export function readyText(config: Config, link: string | null): string {
  const url = baseUrl(config);
  const tokenFile = join(config.dataDir, "token");
  return [
    `pilvi ready ${url}`,
    link === null ? `  Console         ${url}` : `  First account   ${link}`,
    `  Token           ${tokenFile}`,
    `  Documentation   ${url}/docs`,
    `  Logs            ${join(config.dataDir, "log")}`,
    "Try this, in another terminal and this folder:",
    `  ${settingsFor(config)}npx pilvi caches create sessions --wait`,
    `  curl -H "Authorization: Bearer $(cat ${quoted(tokenFile)})" ${url}/api/caches`,
    "Ctrl-C stops Pilvi and all that it runs. The data is kept.",
  ].join("\n");
}

/** Another terminal lacks the settings of this one, so the command carries those that it needs. */
function settingsFor(config: Config): string {
  const url = baseUrl(config);
  const settings = [
    ...(config.dataDir === defaultDataDir() ? [] : [`PILVI_DATA_DIR=${quoted(config.dataDir)} `]),
    ...(url === baseUrl(loadConfig({})) ? [] : [`PILVI_URL=${url} `]),
  ];
  return settings.join("");
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : shellWord(word);
}
