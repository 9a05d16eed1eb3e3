// The reflection that the libraries of passkeys need. In a built program their own import of it would run after they
// do, so `main.ts` and `control-main.ts` import this file first.
import "reflect-metadata";
