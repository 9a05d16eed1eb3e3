// Bots by what their `User-Agent` says. Nothing proves that a client is what it says; a liar is taken for a browser.
import type { BotCategory } from "../../contracts/edge-route.ts";

export const BOTS_FILE = "bots.map";

/**
 * Parts of names in lower case, without spaces. The first that fits decides, so `other` comes last and takes all that
 * call themselves a bot.
 */
const BOTS: [category: BotCategory, parts: string[]][] = [
  [
    "advertising_and_marketing",
    ["adsbot-google", "mediapartners-google", "adidxbot", "criteobot", "ttd-content"],
  ],
  ["ai_search", ["oai-searchbot", "perplexitybot", "claude-searchbot", "youbot"]],
  ["ai_assistant", ["chatgpt-user", "claude-user", "perplexity-user", "mistralai-user", "duckassistbot"]],
  [
    "ai_crawler",
    [
      "gptbot",
      "claudebot",
      "anthropic-ai",
      "ccbot",
      "bytespider",
      "meta-externalagent",
      "amazonbot",
      "ai2bot",
    ],
  ],
  [
    "feed_fetcher",
    ["feedfetcher-google", "feedly", "feedbin", "newsblur", "inoreader", "theoldreader", "miniflux"],
  ],
  ["aggregator", ["flipboardproxy", "smartnews", "pocketparser", "upday"]],
  [
    "page_preview",
    [
      "facebookexternalhit",
      "twitterbot",
      "linkedinbot",
      "slackbot",
      "discordbot",
      "telegrambot",
      "whatsapp",
      "skypeuripreview",
      "embedly",
      "iframely",
    ],
  ],
  ["social_media_marketing", ["pinterestbot", "hootsuite", "bufferbot", "sproutsocial"]],
  [
    "search_engine_crawler",
    [
      "googlebot",
      "bingbot",
      "duckduckbot",
      "applebot",
      "baiduspider",
      "yandexbot",
      "petalbot",
      "sogou",
      "seznambot",
      "qwantbot",
      "slurp",
    ],
  ],
  [
    "search_engine_optimization",
    ["ahrefsbot", "semrushbot", "mj12bot", "dotbot", "rogerbot", "dataforseobot", "serpstatbot", "blexbot"],
  ],
  [
    "monitoring_and_analytics",
    ["uptimerobot", "pingdom", "statuscake", "site24x7", "datadogsynthetics", "newrelicpinger", "checkly"],
  ],
  [
    "security",
    ["censysinspect", "internetmeasurement", "zgrab", "masscan", "nikto", "sqlmap", "nuclei", "leakix"],
  ],
  ["academic_research", ["semanticscholarbot", "turnitinbot", "heritrix", "archive.org_bot"]],
  ["accessibility", ["siteimprove", "monsido", "silktide"]],
  ["webhooks", ["github-hookshot", "svix-webhooks", "stripe/", "shopify-captain-hook"]],
  ["other", ["bot", "crawler", "spider", "scrapy"]],
];

/** The map from parts of names to categories. @param letterOf what stands for a category. */
export function botsFile(letterOf: (category: BotCategory) => string): string {
  return BOTS.flatMap(([category, parts]) => parts.map((part) => `${part} ${letterOf(category)}\n`)).join("");
}
