// The `metrics` commands.
import type { Command } from "commander";
import type { InstanceMetricPeriod, MetricStep, PilviClient, SingleDocument } from "../../sdk/index.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { find } from "./find.ts";
import type { Resource, ShownKind } from "./kind.ts";
import { rowsOf, type MetricsDocument } from "./sparkline.ts";

interface Options {
  period?: InstanceMetricPeriod;
  step?: MetricStep;
  json?: true;
}

/** Requests the metrics of the resource with this id. */
type ReadMetrics = (
  client: PilviClient,
  id: string,
  period?: InstanceMetricPeriod,
  step?: MetricStep,
) => Promise<MetricsDocument>;

/** Adds the command. @param read requests the metrics of the resource with this id. */
export function addMetrics<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  read: ReadMetrics,
  examples: string[],
): void {
  const command = group
    .command("metrics")
    .description(`show what a ${kind.noun} takes and does; it is not woken`)
    .argument("<name-or-id>", nameArgument(kind.noun))
    .option("--period <period>", "how far back: 6h, 24h, 3d, 7d, 30d or 1y (default: 6h)")
    .option(
      "--step <step>",
      "from a point to the next: 1m, 5m, 15m, 30m, 1h, 2h or 1d (default: by the period)",
    );
  withJson(command).action(async (nameOrId: string, { period, step, json }: Options) => {
    const client = await session.client();
    const { data } = await find(kind, client, nameOrId);
    const document = await read(client, data.id, period, step);
    if (json === true) return session.io.out(jsonText(document));
    const rows = rowsOf(document);
    if (rows.length === 0) return session.io.out("Nothing was measured in this time.\n");
    session.io.out(table([["SERIES", "LAST", "MEAN", "OVER THE PERIOD"], ...rows]));
  });
  withExamples(command, examples);
}
