// The commands about the linked environment as a whole: its state, its address, start, stop and restart.
import type { Command } from "commander";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { environmentText } from "./environment-text.ts";
import { finishDeployment, type FollowOptions } from "./follow.ts";
import { targetOf, type TargetOptions, withEnvironment } from "./target.ts";

type LifeOptions = TargetOptions & FollowOptions;

/** Adds `status`. */
export function addStatus(program: Command, session: Session): void {
  const command = program
    .command("status")
    .description("show the linked environment, its address and its current deployment");
  withJson(withEnvironment(command)).action(async (options: LifeOptions) => {
    const { environments, environment, client, link } = await targetOf(session, options);
    if (options.json === true) return session.io.out(jsonText({ data: environment }));
    const application = await client.applications.get(link.application_id);
    const [latest] = (await environments.deployments(environment.id).list()).data;
    session.io.out(environmentText(environment, application.data.attributes.name, latest));
  });
  withExamples(command, ["pilvi status", "pilvi status --environment staging"]);
}

/** Adds `open`. */
export function addOpen(program: Command, session: Session): void {
  const command = program
    .command("open")
    .description("open the linked environment in a browser, and print its address");
  withEnvironment(command).action(async (options: TargetOptions) => {
    const { environment } = await targetOf(session, options);
    const { url } = environment.meta;
    session.io.out(`${url}\n`);
    const opener = ["open", "xdg-open"].find((name) => Bun.which(name) !== null);
    // A pipe wants the address alone, and a server has no browser.
    if (session.io.isErrTerminal && opener !== undefined) await session.io.run([opener, url], {});
  });
  withExamples(command, ["pilvi open", "curl $(pilvi open)"]);
}

/** Adds `start`, `restart` and `stop`. */
export function addLife(program: Command, session: Session): void {
  addStart(program, session);
  addRestart(program, session);
  addStop(program, session);
}

function addStart(program: Command, session: Session): void {
  const command = program
    .command("start")
    .description("start the linked environment with the newest commit of its branch");
  withJson(withNoWait(withEnvironment(command))).action(async (options: LifeOptions) => {
    const target = await targetOf(session, options);
    const begun = await target.environments.start(target.environment.id);
    await finishDeployment(session, target, begun, options);
  });
  withExamples(command, ["pilvi start", "pilvi start --environment staging --no-wait"]);
}

function addRestart(program: Command, session: Session): void {
  const command = program
    .command("restart")
    .description("start the latest deployment anew, beside its former process and without a gap");
  withJson(withNoWait(withEnvironment(command))).action(async (options: LifeOptions) => {
    const target = await targetOf(session, options);
    const begun = await target.environments.start(target.environment.id, { redeploy: true });
    await finishDeployment(session, target, begun, options);
  });
  withExamples(command, ["pilvi restart"]);
}

function addStop(program: Command, session: Session): void {
  const command = program
    .command("stop")
    .description("stop the linked environment, and cancel its deployments; its releases stay");
  withJson(withEnvironment(command)).action(async (options: LifeOptions) => {
    const { environments, environment } = await targetOf(session, options);
    const document = await environments.stop(environment.id);
    if (options.json === true) return session.io.out(jsonText(document));
    session.io.out(`Stopped ${environment.attributes.name}. Start it with: pilvi start\n`);
  });
  withExamples(command, ["pilvi stop", "pilvi stop --environment staging"]);
}

/** Adds `--no-wait`. */
export function withNoWait(command: Command): Command {
  return command.option("--no-wait", "do not wait for the end of the deployment");
}
