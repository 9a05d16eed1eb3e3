// The operation on the organization of a token.
import type { OrganizationResource } from "../resources/shared/organization-schema.ts";
import type { Connection } from "./connection.ts";
import type { SingleDocument } from "./documents.ts";

export type OrganizationDocument = SingleDocument<OrganizationResource>;

/** The organization that the token belongs to. */
export class Organization {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads the organization's name, its quotas and the quotas of the token, with the used amounts. */
  async get(): Promise<OrganizationDocument> {
    return await this.#connection.send<OrganizationDocument>({ method: "GET", path: "/meta/organization" });
  }
}
