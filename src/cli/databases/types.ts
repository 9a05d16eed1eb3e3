// How the types of database clusters look to people.
import type { DatabaseTypeList } from "../../sdk/index.ts";
import { regionsText, type TypesCommand } from "../shared/types.ts";
import { filledLines, rowsOf, table } from "../table.ts";

type Member = DatabaseTypeList["data"][number]["config_schema"][number];

/** What is left of a line of 80 characters beside the name of a member. */
const LINE_CHARACTERS = 52;

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

/** The default, and beside or below it the values that a member may have. */
function memberRows({ name, default: usual, type, min, max, enum: values }: Member): string[][] {
  const first = `default ${String(usual)}`;
  if (values !== undefined)
    return rowsOf(`  ${name}`, [first, ...filledLines(values.map(String), LINE_CHARACTERS, ", ")]);
  const range = min === undefined || max === undefined ? "" : ` from ${min} to ${max}`;
  return rowsOf(`  ${name}`, [`${first}, ${type}${range}`]);
}
