// How the types of database clusters look to people.
import type { DatabaseTypeList } from "../../sdk/index.ts";
import { regionsText, type TypesCommand } from "../shared/types.ts";
import { table } from "../table.ts";

type Member = DatabaseTypeList["data"][number]["config_schema"][number];

/** Some members have dozens of values, too many for one line. */
const VALUES_A_LINE = 5;

export const databaseTypes: TypesCommand<DatabaseTypeList> = {
  description: "list the types of database clusters with their versions and the members of their config",
  examples: ["pilvi databases types", "pilvi databases types --json | jq -r '.data[].type'"],
  read: (client) => client.databases.types(),
  text({ data }) {
    const blocks = data.map(({ type, label, versions, config_schema: members }) => {
      const installed = versions.length === 0 ? "no engine is installed" : `versions ${versions.join(", ")}`;
      return `${type} (${label}), ${installed}\n${table(members.flatMap(memberRows))}`;
    });
    return `${blocks.join("\n")}\n${regionsText(data)}`;
  },
};

function memberRows(member: Member): string[][] {
  const [first = "", ...others] = valuesOf(member);
  return [
    [`  ${member.name}`, `default ${String(member.default)}`, first],
    ...others.map((line) => ["", "", line]),
  ];
}

/** The values that a member may have, in lines. */
function valuesOf({ type, min, max, enum: values }: Member): string[] {
  if (values === undefined) {
    return [min === undefined || max === undefined ? type : `${type} from ${min} to ${max}`];
  }
  const starts = values.map((_, index) => index).filter((index) => index % VALUES_A_LINE === 0);
  return starts.map((start) => values.slice(start, start + VALUES_A_LINE).join(", "));
}
