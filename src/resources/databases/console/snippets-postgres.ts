// Ways to connect to a Postgres, ready to be pasted.
import type { Snippet } from "../../../console/parts/connect.tsx";
import { laravelSnippet, type DatabaseLogin } from "./login.ts";

export function postgresSnippets(login: DatabaseLogin): Snippet[] {
  const { url, isTls } = login;
  return [
    { label: "psql", text: `psql '${url}'` },
    laravelSnippet(login, isTls ? ["DB_SSLMODE=require"] : []),
    { label: "Node", text: nodeCode(login) },
    { label: "Drizzle", text: drizzleCode(login) },
    { label: "Prisma", text: `DATABASE_URL="${url}"` },
    { label: "Python", text: pythonCode(login) },
    { label: "PHP", text: phpCode(login) },
  ];
}

/** The address for Node, whose client warns of a mode that other clients read in another way. */
function nodeUrl({ address, isTls }: DatabaseLogin): string {
  return isTls ? `${address}?sslmode=verify-full` : address;
}

function nodeCode(login: DatabaseLogin): string {
  return `import { Client } from 'pg';

const client = new Client("${nodeUrl(login)}");
await client.connect();
const { rows } = await client.query("select 'hello' as greeting");
console.log(rows[0].greeting);
await client.end();`;
}

function drizzleCode(login: DatabaseLogin): string {
  return `import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';

const db = drizzle("${nodeUrl(login)}");
const { rows } = await db.execute(sql\`select 'hello' as greeting\`);
console.log(rows[0].greeting);
await db.$client.end();`;
}

function pythonCode({ url }: DatabaseLogin): string {
  return `import psycopg

with psycopg.connect("${url}") as connection:
    print(connection.execute("select 'hello'").fetchone()[0])`;
}

function phpCode({ hostname, port, database, username, password, isTls }: DatabaseLogin): string {
  const mode = isTls ? ";sslmode=require" : "";
  return `<?php
$database = new PDO("pgsql:host=${hostname};port=${port};dbname=${database}${mode}", "${username}", "${password}");
echo $database->query("select 'hello'")->fetchColumn();`;
}
