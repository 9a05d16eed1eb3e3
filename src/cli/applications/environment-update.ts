// `pilvi environments update`.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { EnvironmentChange } from "../../sdk/index.ts";
import { nameArgument, wholeNumber, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { requireChange } from "../shared/update.ts";
import { environmentText } from "./environment-text.ts";
import { type AppOptions, applicationIdOf, withApp } from "./environments.ts";
import { environmentKind } from "./kind.ts";

interface UpdateOptions extends AppOptions {
  name?: string;
  branch?: string;
  buildCommand?: string;
  deployCommand?: string;
  startCommand?: string;
  nodeVersion?: string;
  phpVersion?: string;
  buildVariables?: string[];
  healthPath?: string;
  servingMode?: string;
  servingRoot?: string;
  servingFallback?: string;
  staticRoot?: string;
  hibernate?: boolean;
  sleepTimeout?: number;
  timeout?: number;
  shutdownTimeout?: number;
  pushToDeploy?: boolean;
  deployHook?: boolean;
  purgeOnDeploy?: boolean;
  blockBots?: string[];
  underAttack?: boolean;
  json?: true;
}

const BOTS = `Categories of bots:
  academic_research, accessibility, advertising_and_marketing, aggregator,
  ai_assistant, ai_crawler, ai_search, feed_fetcher, monitoring_and_analytics,
  page_preview, search_engine_crawler, search_engine_optimization, security,
  social_media_marketing, webhooks, other`;

/** Adds the command. */
export function addEnvironmentUpdate(environments: Command, session: Session): void {
  const command = environments
    .command("update")
    .description("change an environment; what a build needs takes effect at the next deployment")
    .argument("<name-or-id>", nameArgument("environment"));
  withPlan(command);
  withSettings(command);
  withJson(withApp(command)).action(async (nameOrId: string, options: UpdateOptions) => {
    const change = changeOf(options);
    requireChange(command, change);
    const client = await session.client();
    const id = await applicationIdOf(session, client, options);
    const { data } = await find(environmentKind(id), client, nameOrId);
    // The server checks the values.
    const changed = await client.applications.environments(id).update(data.id, change as EnvironmentChange);
    if (options.json === true) return session.io.out(jsonText(changed));
    const application = await client.applications.get(id);
    session.io.out(environmentText(changed.data, application.data.attributes.name));
  });
  command.addHelpText("after", `\n${BOTS}`);
  withExamples(command, [
    "pilvi environments update production --build-command 'npm run build'",
    "pilvi environments update production --static-root build",
    "pilvi environments update production --health-path /up",
    "pilvi environments update staging --hibernate --sleep-timeout 10",
    "pilvi environments update production --block-bots ai_crawler,ai_search",
    "pilvi environments update production --under-attack",
  ]);
}

/** Options for what a build needs. */
function withPlan(command: Command): void {
  command
    .option("--name <name>", "1 to 40 letters, digits, spaces, underscores and hyphens")
    .option("--branch <branch>", "the branch whose commits it deploys")
    .option("--build-command <command>", "makes the release; an empty text leaves it to the plan")
    .option("--deploy-command <command>", "runs in the new release before it gets requests")
    .option("--start-command <command>", "starts the application; as with the others, empty is the plan's")
    .option("--node-version <version>", "20, 22 or 24; an empty text leaves it to the plan")
    .option("--php-version <version>", "8.2, 8.3, 8.4 or 8.5; an empty text leaves it to the plan")
    .option("--build-variables <names>", "variables that builds get too; with commas between", words)
    .option("--health-path <path>", "what has to answer below 500, such as /up; `port` for an open port")
    .option("--serving-mode <mode>", "process, static or php; an empty text leaves it to the plan")
    .option("--serving-root <folder>", "the public folder; an empty text leaves it to the plan")
    .option("--serving-fallback <file>", "what paths without a file get: index.html, or none")
    .addOption(
      new Option(
        "--static-root <folder>",
        "serve the files of this folder, which the build makes; an empty text leaves it to the plan",
      ).conflicts(["servingMode", "servingRoot"]),
    );
}

function withSettings(command: Command): void {
  command
    .option("--hibernate", "let it sleep when nobody uses it")
    .option("--no-hibernate", "keep it awake")
    .option("--sleep-timeout <minutes>", "after how long without a request it sleeps", wholeNumber)
    .option("--timeout <seconds>", "how long a request may take, 5 to 60", wholeNumber)
    .option("--shutdown-timeout <seconds>", "how long a former release may finish requests", wholeNumber)
    .option("--push-to-deploy", "let a push to its branch begin a deployment")
    .option("--no-push-to-deploy", "deploy nothing on a push")
    .option("--deploy-hook", "let an address without credentials begin a deployment")
    .option("--no-deploy-hook", "have no such address")
    .option("--purge-on-deploy", "have each deployment purge the edge cache, as at first")
    .option("--no-purge-on-deploy", "keep cached answers over deployments")
    .option("--block-bots <categories>", "refuse bots of these categories; with commas between", words)
    .option("--under-attack", "let each client pass a challenge of its browser first")
    .option("--no-under-attack", "let clients pass without it");
}

/** An empty text leaves a setting to the plan, which the API calls null. */
function planned(text: string | undefined): string | null | undefined {
  return text === "" ? null : text;
}

/** A folder of files is served whatever the plan would do. */
function staticMode(root: string | undefined): string | undefined {
  return root === undefined || root === "" ? root : "static";
}

function changeOf(options: UpdateOptions) {
  return {
    name: options.name,
    branch: options.branch,
    build_command: planned(options.buildCommand),
    deploy_command: planned(options.deployCommand),
    start_command: planned(options.startCommand),
    node_version: planned(options.nodeVersion),
    php_version: planned(options.phpVersion),
    build_variables: options.buildVariables,
    health_path: planned(options.healthPath),
    serving_mode: planned(staticMode(options.staticRoot) ?? options.servingMode),
    serving_root: planned(options.staticRoot ?? options.servingRoot),
    serving_fallback: planned(options.servingFallback),
    uses_hibernation: options.hibernate,
    sleep_timeout: options.sleepTimeout,
    timeout: options.timeout,
    shutdown_timeout: options.shutdownTimeout,
    uses_push_to_deploy: options.pushToDeploy,
    uses_deploy_hook: options.deployHook,
    uses_purge_edge_cache_on_deploy: options.purgeOnDeploy,
    firewall_bot_categories: options.blockBots,
    firewall_under_attack_mode: options.underAttack,
  };
}

/** Reads a list; an empty text is an empty list. */
function words(text: string): string[] {
  const list = text === "" ? [] : text.split(",").map((word) => word.trim());
  if (list.includes("")) throw new InvalidArgumentError("A word is empty.");
  return list;
}
