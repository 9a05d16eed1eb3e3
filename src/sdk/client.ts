// The typed client of Pilvi's HTTP API: one member for each kind of resource.
import { Activity } from "./activity.ts";
import { Applications } from "./applications.ts";
import { Caches } from "./caches.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { Databases } from "./databases.ts";
import { Events } from "./events.ts";
import { Invitations, Members, Organizations } from "./members.ts";
import { Organization } from "./organization.ts";
import { Passkeys } from "./passkeys.ts";
import { Sessions } from "./sessions.ts";
import { Backups } from "./snapshots.ts";
import { Tokens } from "./tokens.ts";
import { UsageClient } from "./usage.ts";
import { Users } from "./users.ts";
import { Websockets } from "./websockets.ts";

/**
 * A client with one token, or with the session of the page that it runs in.
 *
 * A create carries an Idempotency-Key, so all requests are sent again after a lost connection or a 503, and after a 429
 * when the server's `Retry-After` is over.
 */
export class PilviClient {
  readonly applications: Applications;
  readonly caches: Caches;
  readonly databases: Databases;
  readonly backups: Backups;
  readonly websockets: Websockets;
  readonly events: Events;
  readonly members: Members;
  readonly invitations: Invitations;
  readonly organizations: Organizations;
  readonly tokens: Tokens;
  readonly passkeys: Passkeys;
  readonly organization: Organization;
  readonly sessions: Sessions;
  readonly usage: UsageClient;
  readonly users: Users;
  readonly activity: Activity;

  constructor(options: ConnectionOptions) {
    const connection = new Connection(options);
    this.applications = new Applications(connection);
    this.caches = new Caches(connection);
    this.databases = new Databases(connection);
    this.backups = new Backups(connection);
    this.websockets = new Websockets(connection);
    this.events = new Events(connection);
    this.members = new Members(connection);
    this.invitations = new Invitations(connection);
    this.organizations = new Organizations(connection);
    this.tokens = new Tokens(connection);
    this.passkeys = new Passkeys(connection);
    this.organization = new Organization(connection);
    this.sessions = new Sessions(connection);
    this.usage = new UsageClient(connection);
    this.users = new Users(connection);
    this.activity = new Activity(connection);
  }
}
