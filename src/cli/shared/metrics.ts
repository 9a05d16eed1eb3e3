// The `metrics` command of caches and database clusters.
import type { Command } from "commander";
import type { InstanceMetricPeriod, PilviClient, SingleDocument } from "../../sdk/index.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { find } from "./find.ts";
import type { Resource, ShownKind } from "./kind.ts";
import { rowsOf, type MetricsDocument } from "./sparkline.ts";

interface Options {
  period?: InstanceMetricPeriod;
  json?: true;
}

/** Adds the command. @param read requests the metrics of the resource with this id. */
export function addMetrics<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  read: (client: PilviClient, id: string, period?: InstanceMetricPeriod) => Promise<MetricsDocument>,
  examples: string[],
): void {
  const command = group
    .command("metrics")
    .description(`show what a ${kind.noun} takes and does; it is not woken`)
    .argument("<name-or-id>", nameArgument(kind.noun))
    .option("--period <period>", "how far back: 6h, 24h, 3d, 7d, 30d or 1y (default: 6h)");
  withJson(command).action(async (nameOrId: string, { period, json }: Options) => {
    const client = await session.client();
    const { data } = await find(kind, client, nameOrId);
    const document = await read(client, data.id, period);
    if (json === true) return session.io.out(jsonText(document));
    const rows = rowsOf(document);
    if (rows.length === 0) return session.io.out("Nothing was measured in this time.\n");
    session.io.out(table([["SERIES", "LAST", "MEAN", "OVER THE PERIOD"], ...rows]));
  });
  withExamples(command, examples);
}
