// The reflection that the libraries of passkeys need. In the built program their own import of it would run after they
// do, so `main.ts` imports this file first.
import "reflect-metadata";
