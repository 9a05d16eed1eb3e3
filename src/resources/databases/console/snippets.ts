// Ways to connect to a database cluster, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import type { DatabaseClusterResource } from "../../../sdk/index.ts";

/** The address with the credentials, for clients that take one text. */
export function urlOf({ attributes: { connection } }: DatabaseClusterResource, database: string): string {
  const { protocol, username = "", password = "", hostname, port } = connection;
  const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
  return `${protocol}://${login}@${hostname}:${port}/${database}`;
}

export function snippetsOf(cluster: DatabaseClusterResource, database: string): Snippet[] {
  const { protocol, driver, username = "", password = "", hostname, port } = cluster.attributes.connection;
  const url = urlOf(cluster, database);
  const isMysql = protocol === "mysql";
  const shell = isMysql
    ? {
        label: "mysql",
        text: `mysql --host=${hostname} --port=${port} --user=${username} --password='${password}' ${database}`,
      }
    : { label: "psql", text: `psql '${url}'` };
  return [
    { label: "URL", text: url },
    shell,
    {
      label: "Laravel",
      text: [
        `DB_CONNECTION=${driver}`,
        `DB_HOST=${hostname}`,
        `DB_PORT=${port}`,
        `DB_DATABASE=${database}`,
        `DB_USERNAME=${username}`,
        `DB_PASSWORD=${password}`,
      ].join("\n"),
    },
    { label: "Prisma, Drizzle", text: `DATABASE_URL="${url}"` },
    {
      label: "PHP",
      text: `<?php
$database = new PDO("${driver}:host=${hostname};port=${port};dbname=${database}", "${username}", "${password}");
echo $database->query("select 'hello'")->fetchColumn();`,
    },
  ];
}
