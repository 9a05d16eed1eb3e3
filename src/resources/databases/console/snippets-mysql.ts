// Ways to connect to a MySQL or MariaDB, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import { laravelSnippet, type DatabaseLogin } from "./login.ts";

/** Where Debian and its relatives keep the certificates that the machine trusts. */
const TRUSTED = "/etc/ssl/certs/ca-certificates.crt";

export function mysqlSnippets(login: DatabaseLogin): Snippet[] {
  const { url, isTls } = login;
  return [
    { label: "mariadb", text: shellCommand(login) },
    laravelSnippet(login, isTls ? [`MYSQL_ATTR_SSL_CA=${TRUSTED}`] : []),
    { label: "Node", text: nodeCode(login) },
    { label: "Drizzle", text: drizzleCode(login) },
    { label: "Prisma", text: `DATABASE_URL="${url}"` },
    { label: "Python", text: pythonCode(login) },
    { label: "PHP", text: phpCode(login) },
  ];
}

function shellCommand({ hostname, port, username, password, database, isTls }: DatabaseLogin): string {
  const tls = isTls ? " --ssl" : "";
  return `mariadb${tls} --host=${hostname} --port=${port} --user=${username} --password='${password}' ${database}`;
}

/** The options of the client for Node, which Drizzle uses as well. */
function nodeOptions({ address, isTls }: DatabaseLogin): string {
  return isTls ? `{ uri: "${address}", ssl: { verifyIdentity: true } }` : `"${address}"`;
}

function nodeCode(login: DatabaseLogin): string {
  return `import mysql from 'mysql2/promise';

const connection = await mysql.createConnection(${nodeOptions(login)});
const [rows] = await connection.query("select 'hello' as greeting");
console.log(rows[0].greeting);
await connection.end();`;
}

function drizzleCode(login: DatabaseLogin): string {
  return `import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/mysql2';

const db = drizzle({ connection: ${login.isTls ? nodeOptions(login) : `{ uri: ${nodeOptions(login)} }`} });
const [rows] = await db.execute(sql\`select 'hello' as greeting\`);
console.log(rows[0].greeting);
await db.$client.end();`;
}

function pythonCode({ hostname, port, username, password, database, isTls }: DatabaseLogin): string {
  const tls = isTls ? ", ssl=ssl.create_default_context()" : "";
  return `${isTls ? "import ssl\n\n" : ""}import pymysql

connection = pymysql.connect(
    host="${hostname}", port=${port}, user="${username}", password="${password}", database="${database}"${tls}
)
with connection, connection.cursor() as cursor:
    cursor.execute("select 'hello'")
    print(cursor.fetchone()[0])`;
}

function phpCode({ hostname, port, database, username, password, isTls }: DatabaseLogin): string {
  const options = isTls ? `, [PDO::MYSQL_ATTR_SSL_CA => "${TRUSTED}"]` : "";
  return `<?php
$database = new PDO("mysql:host=${hostname};port=${port};dbname=${database}", "${username}", "${password}"${options});
echo $database->query("select 'hello'")->fetchColumn();`;
}
