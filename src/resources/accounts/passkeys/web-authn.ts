// The checks of WebAuthn. Loaded when the first passkey is used, since few starts of the control plane need them.

// The library's parser of certificates demands this before itself, and a built program keeps only this order.
import "reflect-metadata";

export {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
