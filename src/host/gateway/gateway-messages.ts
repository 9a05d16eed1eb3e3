// Reads messages of the gateway, which parses bytes of unauthenticated clients: the host checks them as well.
import { gatewayMessageSchema, type GatewayMessage } from "../../contracts/gateway-link.ts";
import { readJsonAs } from "../../contracts/read.ts";

/** Reads one line. @throws ContractError when the line is not a valid message. */
export function readGatewayMessage(line: string): GatewayMessage {
  return readJsonAs(gatewayMessageSchema, line, "A message of the gateway");
}
