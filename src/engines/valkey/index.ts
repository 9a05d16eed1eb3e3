// Valkey, which shares its configuration and protocol with Redis.
import { redisLike } from "../redis/engine.ts";
import { program } from "./program.ts";

export const valkey = redisLike("valkey", program);
