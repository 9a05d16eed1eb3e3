// What tests of the commands about database clusters share.

/** The types with the names of the members of their config, which are all that commands with `--config` read. */
export function typesRoute() {
  const names = {
    hosted_serverless_postgres: ["cu_min", "cu_max", "suspend_seconds", "retention_days"],
    platform_mysql: ["size", "storage", "suspend_seconds", "is_public", "maintenance_window"],
  };
  const data = Object.entries(names).map(([type, members]) => ({
    type,
    config_schema: members.map((name) => ({ name })),
  }));
  return { "GET /databases/types": () => Response.json({ data }) };
}
