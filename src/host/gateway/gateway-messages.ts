// What the gateway may say to the host. It parses the bytes of strangers, so not even its own are believed unseen.
import { gatewayMessageSchema, type GatewayMessage } from "../../contracts/gateway-link.ts";
import { readJsonAs } from "../../contracts/read.ts";

/** Reads one line. @throws ContractError when it is none of the messages. */
export function readGatewayMessage(line: string): GatewayMessage {
  return readJsonAs(gatewayMessageSchema, line, "A message of the gateway");
}
