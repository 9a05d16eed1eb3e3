// The operations on members of the organization, on invitations, and on the organizations of a user.
import type {
  InvitationResource,
  MemberResource,
  OwnOrganizationResource,
} from "../resources/members/schema.ts";
import type { Connection } from "./connection.ts";
import type { SingleDocument } from "./documents.ts";
import { everyPage } from "./every-page.ts";

export type Role = MemberResource["attributes"]["role"];
export type MemberDocument = SingleDocument<MemberResource>;
export type InvitationDocument = SingleDocument<InvitationResource>;
export type OwnOrganizationDocument = SingleDocument<OwnOrganizationResource>;

const pathOf = (collection: string, id: string) => `${collection}/${encodeURIComponent(id)}`;

/** The members of the organization. */
export class Members {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads all members, by name. */
  all(): AsyncGenerator<MemberResource> {
    return everyPage<MemberResource>(this.#connection, "/members");
  }

  /** Gives a member another role. */
  async update(id: string, body: { role: Role }): Promise<MemberDocument> {
    return await this.#connection.send({ method: "PATCH", path: pathOf("/members", id), body });
  }

  /** Takes a member out of the organization at once. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: pathOf("/members", id) });
  }
}

/** Invitations into the organization. */
export class Invitations {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Makes an invitation; the answer alone has its link. Not repeated after a lost connection. */
  async create(body: { role: Role; email?: string }): Promise<InvitationDocument> {
    return await this.#connection.send({ method: "POST", path: "/invitations", body, isOnce: true });
  }

  /** Reads the invitations that can be accepted, the newest first. */
  all(): AsyncGenerator<InvitationResource> {
    return everyPage<InvitationResource>(this.#connection, "/invitations");
  }

  /** Withdraws an invitation. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: pathOf("/invitations", id) });
  }

  /**
   * Accepts an invitation as the signed-in user, or with an account, which is made when there is none for the address.
   * The browser keeps the cookie of the answer. Not repeated after a lost connection, since an invitation can be
   * accepted once.
   */
  async accept(body: { secret: string; email?: string; name?: string; password?: string }): Promise<void> {
    await this.#connection.send({
      method: "POST",
      path: "/invitations/accept",
      body,
      isOnce: true,
      isLimitFinal: true,
    });
  }
}

/** The organizations of the signed-in user. */
export class Organizations {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads all organizations of the user, by name. */
  all(): AsyncGenerator<OwnOrganizationResource> {
    return everyPage<OwnOrganizationResource>(this.#connection, "/organizations");
  }

  /** Makes an organization, whose owner is the user. */
  async create(body: { name: string }): Promise<OwnOrganizationDocument> {
    return await this.#connection.send({ method: "POST", path: "/organizations", body, isOnce: true });
  }

  /** Deletes an organization that has no resources; its owners may. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: pathOf("/organizations", id) });
  }

  /** Takes the user out of an organization. */
  async leave(id: string): Promise<void> {
    const path = `${pathOf("/organizations", id)}/membership`;
    await this.#connection.send({ method: "DELETE", path });
  }

  /** Renames an organization. */
  async update(id: string, body: { name: string }): Promise<OwnOrganizationDocument> {
    return await this.#connection.send({ method: "PATCH", path: pathOf("/organizations", id), body });
  }
}
